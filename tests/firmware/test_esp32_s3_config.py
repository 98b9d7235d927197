"""The ESP32-S3's configuration: partitions, options of ESP-IDF, names that MicroPython reads."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest


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
