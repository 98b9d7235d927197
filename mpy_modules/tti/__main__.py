# The command line: micropython -m tti "пожилой мужчина" --seed 7 --steps 8 --guidance 3 --out
# face.png

import sys

import micropython

import tti
from tti.image import check_target

_USAGE = (
    "usage: -m tti PROMPT [--seed N] [--steps N] [--guidance G]"
    " [--out FILE.png] [--model FILE.tti] [--ascii]"
)
_NUMBERS = {"--seed": int, "--steps": int, "--guidance": float}


class UsageError(Exception):
    pass


def parse(args):
    """Return {option: value} of the command line; raises UsageError in one sentence."""
    options = {}
    args = list(args)
    while args:
        arg = args.pop(0)
        if arg == "--" and len(args) == 1:  # what follows is the prompt, whatever it looks like
            options["prompt"] = args.pop()
        elif arg in ("--help", "-h"):
            return {"help": True}
        elif arg == "--ascii":
            options["ascii"] = True
        elif arg in _NUMBERS or arg in ("--out", "--model"):
            if not args:
                raise UsageError("%s needs a value" % arg)
            options[arg[2:]] = _value(arg, args.pop(0))
        elif arg.startswith("--") or "prompt" in options:
            raise UsageError("unexpected argument %s; %s" % (arg, _USAGE))
        else:
            options["prompt"] = arg
    if "prompt" not in options:
        raise UsageError(_USAGE)
    return options


def _value(option, text):
    try:
        return _NUMBERS.get(option, str)(text)
    except ValueError:
        kind = "whole number" if _NUMBERS[option] is int else "number"
        raise UsageError("%s must be a %s, not '%s'" % (option, kind, text))


def main(args):
    """Draw one picture; return the exit status."""
    micropython.kbd_intr(3)  # -m leaves Ctrl-C to the shell, which would print nothing
    try:
        options = parse(args)
        if "help" in options:
            print(_USAGE)
            return 0
        if "out" in options:
            check_target(options["out"])  # before minutes of drawing
        draw(options)
    except KeyboardInterrupt:
        return complain("stopped; nothing was saved", 130)
    except UnicodeError:
        return complain("tti: an argument is not valid UTF-8; set the terminal to UTF-8", 2)
    except (UsageError, TypeError, ValueError, OSError, MemoryError) as error:
        return complain("tti: %s" % error, 2)
    return 0


def draw(options):
    """Draw, show and save as the options say."""
    tti.load(options.get("model"))
    image = tti.generate(
        options["prompt"],
        options.get("seed"),
        options.get("steps", 8),
        options.get("guidance", 3),
        show=False,
        progress=True,
    )
    image.show(False if options.get("ascii") else None)
    if "out" in options:
        image.save(options["out"])
        print("saved %s (seed %d)" % (options["out"], image.seed))


def complain(text, status):
    """Write one line to stderr, if it can be written, and return `status`."""
    try:
        sys.stderr.write(text + "\n")
    except OSError:
        pass
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
