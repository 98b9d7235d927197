"""The ESP32-S3's firmware as far as it can be built without Espressif's tools."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ttikit.board.romfs import read_romfs

sys.path.insert(0, str(Path(__file__).parent))
import esp32_build

ROMFS = 0x300000


@pytest.fixture(scope="module")
def commands(built):
    """{source: words of the command that compiles it}"""
    entries = json.loads((built / "compile_commands.json").read_text())
    return {Path(e["file"]): shlex.split(e["command"]) for e in entries}


def test_image_with_the_model(repo, built):
    full, plain, model = (
        (built / f"tti-esp32s3{kind}.bin").read_bytes() for kind in ("-full", "", "-model")
    )
    assert plain == (built / "firmware.bin").read_bytes()
    assert plain[:4] == b"boot" and plain[0x8000:0x8002] == b"\xaa\x50"
    assert plain[0x10000:0x10004] == b"app!"
    assert full[: len(plain)] == plain and full[ROMFS:] == model
    assert full[len(plain) : ROMFS].count(0xFF) == ROMFS - len(plain)
    files = read_romfs(model)
    assert files["faces.tti"].data == (repo / "models" / "faces.tti").read_bytes()
    assert files["faces.tti"].offset % 16 == 0 and len(model) % 4096 == 0


@pytest.mark.parametrize(
    ("name", "size", "sentence"),
    [
        ("model.tti", 0x500000, "5,242,880 for it: choose a smaller MODEL"),
        ("firmware.bin", 0x300001, "MicroPython takes 3,080,193 bytes; the partition factory has"),
        ("model.tti", None, "model.tti cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_fit_gives_no_image(repo, tmp_path, name, size, sentence):
    for file in ("model.tti", "firmware.bin"):
        (tmp_path / file).write_bytes(bytes(0x20000))
    if size is None:
        (tmp_path / name).unlink()
    else:
        (tmp_path / name).write_bytes(bytes(size))
    script = repo / "board_configs" / "esp32_s3_n16r8" / "images.py"
    command = [sys.executable, script, tmp_path, tmp_path / "model.tti"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and sentence in done.stderr
    assert not list(tmp_path.glob("tti-*.bin"))


def ours(repo, commands):
    return {
        path.relative_to(repo): words for path, words in commands.items() if repo in path.parents
    }


def test_sources_of_the_module_are_compiled(repo, commands):
    folders = {path.parent.name for path in ours(repo, commands)}
    assert folders == {"binding", "core", "parallel", "readline", "reserve", "esp32_s3_n16r8"}
    native = {path.relative_to(repo) for path in (repo / "native").rglob("*.[cS]")}
    other_chips = {
        Path("native/parallel") / f"parallel_{name}.c" for name in ("none", "rp2", "unix")
    }
    startup = Path("board_configs/esp32_s3_n16r8/startup.c")
    assert set(ours(repo, commands)) == native - other_chips | {startup}
    assert any(path.suffix == ".S" for path in native)


def test_flags_of_the_module(repo, commands):
    for path, words in ours(repo, commands).items():
        assert "-ffp-contract=off" in words, path
        assert {"-DTTI_PIE=1", "-DTTI_HOT_SECTION=.iram1.tti"} <= set(words), path
        assert "-DTTI_PARALLEL_freertos" in words and "-DTTI_READLINE=1" in words, path
        assert not any(word.startswith(("-ffast-math", "-Ofast")) for word in words), path
        assert ("-O3" in words) == (path.parent.name == "core"), path


def test_editor_takes_the_place_of_the_ports(repo, built):
    """By the linker's --wrap, in the link of the program and not of the component."""
    (link,) = built.glob("CMakeFiles/*.elf.dir/link.txt")
    editor = (repo / "native" / "readline" / "editor.c").read_text()
    names = set(re.findall(r"__wrap_(readline\w*)\(", editor))
    wrapped = set(re.findall(r"-Wl,--wrap=(\w+)", link.read_text()))
    assert len(names) == 6 and names <= wrapped and "memp_malloc" in wrapped


def test_stock_editor_and_a_build_that_fails(repo, tree, tmp_path):
    done = esp32_build.build(repo, tree, tmp_path, TTI_READLINE="0")
    assert done.returncode == 0, done.stderr
    (link,) = tmp_path.glob("*/CMakeFiles/*.elf.dir/link.txt")
    assert "wrap=readline" not in link.read_text()
    assert len(list(tmp_path.glob("*/tti-*.bin"))) == 3
    done = esp32_build.build(repo, tree, tmp_path, TTI_READLINE="0", APP_BYTES="3100000")
    assert done.returncode == 2 and "overflows allocated space" in done.stdout
    assert link.exists() and not list(tmp_path.glob("*/tti-*.bin"))


def stand_ins(repo):
    """Folders of headers for ESP-IDF's."""
    return [f"-I{repo / 'tests' / 'native' / 'freertos'}", f"-I{esp32_build.IDF / 'include'}"]


TARGETS = {
    "pc": ["cc"],
    "xtensa": ["clang-22", "--target=xtensa-none-elf", "-ffreestanding", "-nostdlibinc"],
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "source",
    [
        "native/parallel/parallel_freertos.c",
        "native/parallel/split.c",
        "native/reserve/reserve.c",
        "board_configs/esp32_s3_n16r8/startup.c",
    ],
)
def test_c_without_espressifs_compiler(repo, tree, commands, tmp_path, source, target):
    words = commands[repo / source]
    flags = [w for w in words if w.startswith(("-D", "-I", "-f", "-O"))]
    includes = [f"-I{tree / 'ports' / 'esp32'}", f"-I{tree}"]
    warnings = ["-std=gnu17", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    done = subprocess.run(
        [*TARGETS[target], *flags, *stand_ins(repo), *includes, *warnings, repo / source],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_module_by_a_compiler_with_the_same_c_library(repo, tree, commands, firmware):
    """newlib's uint32_t is unsigned long, and what gcc 14 refuses is an error. The strings
    that are interned are those of the PC's firmware, which lacks the name of the kernels."""
    pointers = ("-Werror", "-Werror=incompatible-pointer-types", "-Werror=int-conversion")
    ignored = ("-Wno-unused-parameter", "-Wno-missing-field-initializers")
    headers = ("-isystem", firmware.parent, "-isystem", tree)
    sources = [
        path for path in commands if repo / "native" in path.parents and path.suffix == ".c"
    ]
    assert len(sources) > 30
    for source in sources:
        flags = [w for w in commands[source] if w.startswith(("-D", "-I"))]
        done = subprocess.run(
            [
                *("arm-none-eabi-gcc", "-std=gnu17", "-Wall", "-Wextra", *pointers, *ignored),
                *(*flags, "-DMP_QSTR_pie=1", *stand_ins(repo), *headers, "-fsyntax-only", source),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_assembly_goes_where_espressifs_linker_script_puts_iram(repo):
    """Into sections .iram1.*, and without literals: those would have to lie before their code."""
    sources = sorted((repo / "native" / "core").glob("*_pie.S"))
    assert len(sources) > 5
    for source in sources:
        preprocessed = subprocess.run(
            ["cc", "-E", "-P", "-U__linux__", "-DTTI_HOT_SECTION=.iram1.tti", "-DTTI_PIE", source],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        places = re.findall(r"^\s*\.(?:section +|text|data)(.*)", preprocessed, re.MULTILINE)
        assert places == ['.iram1.tti, "ax", @progbits'], source
        assert len(re.findall(r"^\s*begin \w+", preprocessed, re.MULTILINE)) >= 1, source
        assert not re.search(r"\bl32r\b|\.literal", preprocessed), source
        for number in re.findall(r"\bmovi\s+a\d+, *(\S+?)(?:;|$)", preprocessed, re.MULTILINE):
            assert -2048 <= int(number, 0) < 2048, source  # the assembler makes others literals


def fails(repo, *arguments, **env):
    done = esp32_build.make(repo, *arguments, env=env)
    assert done.returncode == 2
    sentence, *rest = done.stderr.strip().splitlines()
    assert all(line.startswith("make") for line in rest), done.stderr
    return sentence


def test_no_idf_is_said_before_anything_is_fetched(repo, tmp_path):
    assert "IDF_PATH is not set: install ESP-IDF 5.4" in fails(repo, f"BUILD={tmp_path}")
    assert list(tmp_path.iterdir()) == []


def test_no_idf_there(repo, tmp_path):
    said = fails(repo, f"BUILD={tmp_path}", IDF_PATH=str(tmp_path))
    assert f"IDF_PATH={tmp_path} is no ESP-IDF" in said


def test_no_checkout(repo, tmp_path):
    said = fails(repo, f"BUILD={tmp_path}", **esp32_build.exported())
    assert "needs a git checkout of MicroPython 1.25 to 1.29" in said and "MPY_DIR=" in said
    assert list(tmp_path.iterdir()) == []


def version_of_idf(folder, major, minor):
    path = folder / "tools" / "cmake" / "version.cmake"
    path.parent.mkdir(parents=True)
    text = f"set(IDF_VERSION_MAJOR {major})\nset(IDF_VERSION_MINOR {minor})\n"
    path.write_text(text + "set(IDF_VERSION_PATCH 1)\n")


def version_of_micropython(folder, minor):
    (folder / "py").mkdir(parents=True)
    names = (("MAJOR", 1), ("MINOR", minor), ("MICRO", 0))
    text = "".join(f"#define MICROPY_VERSION_{name} {value}\n" for name, value in names)
    (folder / "py" / "mpconfig.h").write_text(text)


@pytest.mark.parametrize(
    ("micropython", "idf", "fits"),
    [
        (25, (5, 2), None),
        (25, (5, 4), None),
        (25, (5, 1), "5.2 to 5.4"),
        (26, (5, 5), "5.2 to 5.4"),
        (27, (5, 3), None),
        (29, (5, 5), None),
        (27, (5, 2), "5.3 to 5.5"),
        (29, (6, 0), "5.3 to 5.5"),
        (25, (4, 4), "5.2 to 5.4"),
    ],
)
def test_version_of_idf_fits_micropythons(repo, tmp_path, micropython, idf, fits):
    version_of_idf(tmp_path / "idf", *idf)
    version_of_micropython(tmp_path / "mpy", micropython)
    env = {**esp32_build.exported(), "IDF_PATH": str(tmp_path / "idf")}
    said = fails(repo, f"MPY_DIR={tmp_path / 'mpy'}", f"BUILD={tmp_path / 'build'}", **env)
    wrong = f"is ESP-IDF {idf[0]}.{idf[1]}.1; MicroPython 1.{micropython}.0 is built with {fits}"
    assert wrong in said if fits else "lib/berkeley-db-1.xx/README is missing" in said


def test_tools_that_are_not_exported(repo, tree, tmp_path):
    env = {"IDF_PATH": str(esp32_build.IDF)}
    said = fails(repo, f"MPY_DIR={tree}", f"BUILD={tmp_path}", **env)
    assert "idf.py is not on the PATH" in said and "export.sh" in said
    (tmp_path / "bin").mkdir()
    shutil.copy(esp32_build.IDF / "bin" / "idf.py", tmp_path / "bin")
    path = f"{tmp_path / 'bin'}:{esp32_build.os.environ['PATH']}"
    said = fails(repo, f"MPY_DIR={tree}", f"BUILD={tmp_path}", PATH=path, **env)
    assert "xtensa-esp32s3-elf-gcc is not on the PATH" in said


def test_submodules_that_are_missing(repo, mpy_dir, tmp_path):
    said = fails(repo, f"MPY_DIR={mpy_dir}", f"BUILD={tmp_path}", **esp32_build.exported())
    assert "berkeley-db-1.xx/README is missing: run `make -C" in said and "submodules" in said
