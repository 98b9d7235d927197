"""A stand-in for the firmware: answers drawing jobs at once with bytes made from the job.

Its ways are set by environment variables: FAKE_STARTS names a file that gets a line per start;
FAKE_ILL is what goes wrong in the first start ("die", "hang", "garbage", "short", "lost"); with
FAKE_DEAD every start dies at once; FAKE_SALT changes all pictures; FAKE_SLOW is a pause in seconds
before each answer.
"""

import hashlib
import json
import os
import sys
import time
import zlib
from pathlib import Path

PICTURE = 64 * 64 * 3


def picture(prompt: str, seed: int, steps: int, guidance: int) -> bytes:
    """The bytes that this firmware draws for a job: 64 equal rows."""
    salt = os.environ.get("FAKE_SALT", "")
    text = f"{salt}|{prompt}|{seed}|{steps}|{guidance}"
    return hashlib.shake_128(text.encode()).digest(PICTURE // 64) * 64


def answer(head: dict, parts: list[bytes], damage: int = 0) -> None:
    crc = zlib.crc32(b"".join(parts)) ^ damage
    head = {**head, "crc": crc, "bytes": [len(part) for part in parts]}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + b"".join(parts))
    sys.stdout.buffer.flush()


def misbehave(kind: str, data: bytes) -> None:
    if kind == "die":
        print("out of luck", file=sys.stderr)
        sys.exit(7)
    if kind == "hang":
        time.sleep(60)
    if kind == "garbage":
        sys.stdout.buffer.write(b"\xff\x00 no json\n")
        sys.stdout.buffer.flush()
        time.sleep(60)
    if kind == "short":
        answer({"notes": []}, [data[:10]])
    if kind == "lost":
        answer({"notes": []}, [data], damage=1)


def main() -> None:
    starts = os.environ.get("FAKE_STARTS")
    first = True
    if starts:
        with Path(starts).open("a+") as file:
            file.write(f"{os.getpid()}\n")
            file.seek(0)
            first = len(file.readlines()) == 1
    ill = os.environ.get("FAKE_ILL") if first else None
    if "FAKE_DEAD" in os.environ:
        misbehave("die", b"")
    answer({"ready": 1}, [])
    for count, line in enumerate(sys.stdin):
        job = json.loads(line)[:4]
        time.sleep(float(os.environ.get("FAKE_SLOW", "0")))
        if ill and count == 1:
            misbehave(ill, picture(*job))
        else:
            answer({"notes": []}, [picture(*job)])


if __name__ == "__main__":
    main()
