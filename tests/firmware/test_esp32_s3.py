"""The ESP32-S3's firmware as far as it can be built without Espressif's tools."""

import importlib.util
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
def tree(mpy_dir, tmp_path_factory):
    """A checkout of MicroPython."""
    return esp32_build.checkout(mpy_dir, tmp_path_factory.mktemp("checkout"))


@pytest.fixture(scope="module")
def built(repo, tree, tmp_path_factory):
    """The folder of a build."""
    folder = tmp_path_factory.mktemp("esp32")
    done = esp32_build.build(repo, tree, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"factory +1,7\d\d,\d\d\d +3,080,192 +0x10000\n", done.stdout)
    assert re.search(r"romfs +3,3\d\d,\d\d\d +5,242,880 +0x300000\n", done.stdout)
    return folder / "firmware-esp32_s3_n16r8"


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
    ("more", "env", "sentence"),
    [
        ((), {"APP_BYTES": "3100000"}, "overflows allocated space"),
        (("MODEL=large.tti",), {}, "for it: choose a smaller MODEL"),
        (("MODEL=none.tti",), {}, "none.tti cannot be read: No such file or directory"),
    ],
)
def test_what_does_not_fit_leaves_no_image(repo, tree, tmp_path, more, env, sentence):
    (tmp_path / "large.tti").write_bytes(bytes(0x500000))
    more = [word.replace("=", f"={tmp_path}/") for word in more]
    done = esp32_build.build(repo, tree, tmp_path / "build", *more, **env)
    assert done.returncode == 2 and sentence in done.stderr + done.stdout
    assert not list((tmp_path / "build" / "firmware-esp32_s3_n16r8").glob("tti-*.bin"))


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
        assert "-DTTI_HOT_SECTION=.iram1.tti" in words, path
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


def test_stock_editor_on_demand(repo, tree, tmp_path):
    done = esp32_build.build(repo, tree, tmp_path, TTI_READLINE="0")
    assert done.returncode == 0, done.stderr
    (link,) = tmp_path.glob("*/CMakeFiles/*.elf.dir/link.txt")
    assert "wrap=readline" not in link.read_text()


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


def test_hot_code_goes_where_espressifs_linker_script_puts_iram(repo, commands):
    """Sections .iram1.* of C and of assembly."""
    preprocessed = subprocess.run(
        ["cc", "-E", "-DTTI_HOT_SECTION=.iram1.tti", "-DTTI_PIE", repo / "native/core/sums_pie.S"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert re.search(r'\.section +\.iram1\.tti, *"ax"', preprocessed)
    target = (repo / "native" / "core" / "target.h").read_text()
    assert "section(TTI_STRING(TTI_HOT_SECTION))" in target


# The messages.


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


# The configuration.


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def board(repo):
    return repo / "board_configs" / "esp32_s3_n16r8"


@pytest.fixture(scope="module")
def parts(board):
    return load(board / "layout.py").partitions()


def test_partitions_as_espressifs_own_tool_reads_them(board, parts):
    from esp_idf_defs.partitions import PartitionTable

    table = PartitionTable.from_csv((board / "partitions.csv").read_text())
    table.verify()
    table.verify_size_fits(16 * 1024 * 1024)
    assert PartitionTable.from_binary(table.to_binary()) == table
    assert {part.name: (part.offset, part.size) for part in table} == {
        name: part[1:] for name, part in parts.items()
    }
    assert not any(part.encrypted for part in table)


def test_partitions_fill_the_flash_without_overlap(parts):
    end = 0x9000  # behind bootloader and table
    for part in sorted(parts.values(), key=lambda part: part.offset):
        assert part.offset == end
        end += part.size
    assert end == 16 * 1024 * 1024


def test_mapped_partitions_begin_at_pages_of_the_mmu(parts):
    for name in ("factory", "romfs"):
        assert parts[name].offset % 0x10000 == parts[name].size % 0x10000 == 0
    # The S3 maps flash and PSRAM into the same 32 MB.
    mapped = parts["factory"].size + parts["romfs"].size + 8 * 1024 * 1024
    assert mapped <= 32 * 1024 * 1024


def test_partitions_hold_what_they_are_for(repo, parts):
    """The port's own firmware for an S3 takes 1.7 MB; ours adds kernels and frozen modules."""
    model = (repo / "models" / "faces.tti").stat().st_size
    assert parts["romfs"].size >= model * 3 // 2
    assert parts["factory"].size >= 2 * 1024 * 1024 + 512 * 1024
    assert parts["vfs"].size >= 1024 * 1024


def test_names_are_those_that_micropython_looks_for(mpy_dir, board, parts):
    port = mpy_dir / "ports" / "esp32"
    assert '"romfs"' in (port / "esp32_partition.c").read_text() and "romfs" in parts
    assert 'label="vfs"' in (port / "modules" / "flashbdev.py").read_text() and "vfs" in parts
    config = (board / "mpconfigboard.h").read_text()
    startup = re.search(r"^#define MICROPY_BOARD_STARTUP (\w+)$", config, re.MULTILINE)[1]
    assert f"void {startup}(void) {{" in (board / "startup.c").read_text()
    assert "MICROPY_BOARD_STARTUP();" in (port / "main.c").read_text()
    names = set(re.findall(r"^#define (MICROPY_\w+)", config, re.MULTILINE))
    sources = [*port.glob("*.[ch]"), *(mpy_dir / "py").glob("*.h"), *port.glob("boards/*/*.h")]
    known = "".join(path.read_text() for path in sources)
    assert len(names) >= 7
    assert [name for name in names if not re.search(rf"\b{name}\b", known)] == []


def test_cmake_variables_are_those_of_the_port(mpy_dir, board):
    port = mpy_dir / "ports" / "esp32"
    read = (port / "CMakeLists.txt").read_text() + (port / "esp32_common.cmake").read_text()
    text = (board / "mpconfigboard.cmake").read_text()
    names = set(re.findall(r"(?:set|list)\((?:APPEND )?([A-Z]\w+)", text))
    assert {"IDF_TARGET", "SDKCONFIG_DEFAULTS", "MICROPY_SOURCE_BOARD"} < names
    for name in names:
        assert (
            name.startswith("TTI_")
            or name == "IDF_TARGET"
            or f"${{{name}}}" in read
            or (f"NOT {name})" in read)
        ), name


def options(path):
    lines = path.read_text().splitlines()
    settings = [line for line in lines if line and not line.startswith("#")]
    matches = [re.fullmatch(r"CONFIG_([A-Z0-9_]+)=(.*)", line) for line in settings]
    assert all(matches), settings
    names = [match[1] for match in matches]
    assert len(set(names)) == len(names)
    return {match[1]: match[2] for match in matches}


def known_options():
    """({option: kind}, {choice: its members}) of idf_options.txt."""
    kinds, choices, choice = {}, {}, None
    for line in Path(__file__).with_name("idf_options.txt").read_text().splitlines():
        words = line.split()
        if line.startswith("#"):
            continue
        if len(words) == 3:
            kind, name, file = words
            assert file.startswith("components/")
            choice = name if kind == "choice" else None
            if choice:
                choices[choice] = []
            else:
                kinds[name] = kind
        else:
            (name,) = words
            choices[choice].append(name)
            kinds[name] = "bool"
    return kinds, choices


def test_options_are_spelled_as_idf_spells_them(board):
    kinds, choices = known_options()
    found = options(board / "sdkconfig.board")
    assert set(found) == set(kinds) - {"PARTITION_TABLE_CUSTOM_FILENAME"}
    forms = {"bool": "[yn]", "int": "[0-9]+"}
    for name, value in found.items():
        assert re.fullmatch(forms[kinds[name]], value), name
    for choice, members in choices.items():
        assert [found[name] for name in members].count("y") == 1, choice


def test_last_word_on_each_option_is_the_boards(built, board):
    """In the file that ESP-IDF gets; lines of the port come first."""
    text = (built / "sdkconfig.combined").read_text()
    last = dict(re.findall(r"^CONFIG_(\w+)=(.*)$", text, re.MULTILINE))
    ours = options(board / "sdkconfig.board")
    assert {name: last[name] for name in ours} == ours
    assert last["PARTITION_TABLE_CUSTOM_FILENAME"] == f'"{board / "partitions.csv"}"'
    for member in ("ESPTOOLPY_FLASHSIZE_8MB", "ESP_DEFAULT_CPU_FREQ_MHZ_80", "SPIRAM_SPEED_40M"):
        assert last.get(member, "n") in ("", "n")
    assert last["BT_NIMBLE_PINNED_TO_CORE"] == "1"  # MicroPython's core, not the worker's
    assert last["ESP_TASK_WDT_CHECK_IDLE_TASK_CPU0"] == "n"  # ops keep core 0 busy


def test_frozen_modules_are_the_ports_and_tti(repo, mpy_dir, board, tmp_path):
    sys.path.insert(0, str(mpy_dir / "tools"))
    manifestfile = pytest.importorskip("manifestfile")
    port = mpy_dir / "ports" / "esp32"
    manifest = (port / "boards" / "manifest.py").read_text()
    for name in re.findall(r'require\("([\w.-]+)"\)', manifest):
        package = tmp_path / "micropython" / name / "manifest.py"
        package.parent.mkdir(parents=True)
        package.write_text("metadata()\n")
    places = {
        "MPY_DIR": str(mpy_dir),
        "PORT_DIR": str(port),
        "BOARD_DIR": str(board),
        "MPY_LIB_DIR": str(tmp_path),
    }
    frozen = manifestfile.ManifestFile(manifestfile.MODE_FREEZE, places)
    frozen.execute(str(board / "manifest.py"))
    names = [file.target_path for file in frozen.files()]
    assert len(set(names)) == len(names)
    assert {"_boot.py", "flashbdev.py", "asyncio/core.py", "tti/pipeline.py"} <= set(names)
