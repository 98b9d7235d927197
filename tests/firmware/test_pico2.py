"""What can be told of the Pico 2's firmware without a board: its ELF and UF2 files are read."""

import re
import shutil
import struct
import subprocess
from collections import defaultdict
from itertools import pairwise

import pytest
from elftools.elf.elffile import ELFFile
from ttikit.board.romfs import read_romfs
from ttikit.emulator import read_image

FLASH, FLASH_END = 0x10000000, 0x10400000
ROMFS, FILES = 0x10090000, 0x103D0000
RAM, RAM_END = 0x20000000, 0x20082000
ARM, ABSOLUTE = 0xE48BFF59, 0xE48BFF57  # UF2 families of the RP2350
# A block that picotool puts first so that the chip's first revision (erratum RP2350-E10) writes
# a file without partitions; it lies outside a flash of 4 MB.
ERRATUM = 0x10FFFF00


def uf2(path):
    """Return {family: {address: 256 bytes}} of a UF2 file after checking every block of it."""
    data = path.read_bytes()
    assert len(data) % 512 == 0
    families, order = defaultdict(dict), defaultdict(list)
    for at in range(0, len(data), 512):
        block = data[at : at + 512]
        head = struct.unpack_from("<8I", block)
        first, second, flags, address, size, number, total, family = head
        assert (first, second) == (0x0A324655, 0x9E5D5157)
        assert block[-4:] == struct.pack("<I", 0x0AB16F30)
        assert flags & 0x2001 == 0x2000 and size == 256 and address % 256 == 0
        if address == ERRATUM:
            assert family == ABSOLUTE and at == 0
            continue
        assert address not in families[family]
        families[family][address] = block[32:288]
        order[family].append((number, total))
    for numbers in order.values():
        assert numbers == [(n, len(numbers)) for n in range(len(numbers))]
    return families


def memory(blocks):
    """Join blocks that follow each other; return (address, bytes)."""
    addresses = list(blocks)
    assert addresses == list(range(addresses[0], addresses[0] + 256 * len(addresses), 256))
    return addresses[0], b"".join(blocks.values())


@pytest.fixture(scope="module")
def elf(pico2):
    with (pico2 / "firmware.elf").open("rb") as file:
        yield ELFFile(file)


@pytest.fixture(scope="module")
def symbols(pico2):
    return read_image(pico2 / "firmware.elf").symbols


def stored(elf):
    """The segments as they lie in flash: (address, size, bytes)."""
    segments = [s for s in elf.iter_segments("PT_LOAD") if s["p_filesz"]]
    return sorted((s["p_paddr"], s["p_filesz"], s.data()) for s in segments)


def running(elf):
    """The segments as they are in memory after the start, those of zeros too."""
    segments = [s for s in elf.iter_segments("PT_LOAD") if s["p_memsz"]]
    return sorted((s["p_vaddr"], s["p_memsz"], s.data()) for s in segments)


def test_regions_do_not_overlap(elf, symbols):
    """In flash: firmware, ROMFS, files. In RAM: what is linked, then heap, then stack."""
    for segments in (stored(elf), running(elf)):
        for (start, size, _), (after, _, _) in pairwise(segments):
            assert start + size <= after
        for start, size, _ in segments:
            assert (
                FLASH <= start <= start + size <= ROMFS or RAM <= start <= start + size < RAM_END
            )
    assert all(address < RAM for address, _, _ in stored(elf))
    assert symbols["__flash_binary_end"] <= ROMFS
    names = "ram_vector_table __data_start__ __data_end__ __bss_end__ __GcHeapStart __GcHeapEnd"
    order = [symbols[name] for name in names.split()] + [RAM_END]
    assert order == sorted(order)
    assert symbols["__StackBottom"] == symbols["__GcHeapEnd"]
    assert symbols["__StackTop"] == RAM_END


def test_port_has_the_layout_that_the_build_checks(elf, symbols):
    """The two block devices inside the firmware, (type, base in flash, size), and layout.py."""
    for name, start, end in (
        ("rp2_flash_romfs_obj", ROMFS, FILES),
        ("rp2_flash_obj", FILES, FLASH_END),
    ):
        place = symbols[name]
        ((base, data),) = [
            (address, data)
            for address, size, data in running(elf)
            if address <= place < address + size
        ]
        assert struct.unpack_from("<2I", data, place - base + 4) == (start - FLASH, end - start)


def test_files_have_room(symbols):
    assert FLASH_END - FILES >= 192 * 1024
    assert symbols["__GcHeapEnd"] - symbols["__GcHeapStart"] >= 480 * 1024
    assert symbols["__StackTop"] - symbols["__StackBottom"] >= 12 * 1024
    assert symbols["__bss_end__"] - RAM <= 28 * 1024


def test_firmware_uf2_holds_the_elf(pico2, elf):
    families = uf2(pico2 / "tti-pico2.uf2")
    assert set(families) == {ARM}
    start, image = memory(families[ARM])
    assert start == FLASH
    for address, size, data in stored(elf):
        assert image[address - FLASH : address - FLASH + size] == data


def test_firmware_starts_like_an_rp2350_image(pico2):
    """Its vectors point to the stack and into it; a block for the boot ROM is near the start."""
    _, image = memory(uf2(pico2 / "tti-pico2.uf2")[ARM])
    stack, reset = struct.unpack_from("<2I", image)
    assert stack == RAM_END and reset & 1 and FLASH < reset < FLASH + len(image)
    marker, item = struct.unpack_from("<2I", image, image.index(b"\xd3\xde\xff\xff"))
    # IMAGE_TYPE, one word long: executable, secure, Arm, RP2350.
    assert marker == 0xFFFFDED3 and item == 0x10210142
    assert image.index(b"\xd3\xde\xff\xff") < 4096


def test_model_uf2_is_a_romfs_with_the_model_in_place(pico2, repo):
    families = uf2(pico2 / "tti-pico2-model.uf2")
    assert set(families) == {ABSOLUTE}
    start, image = memory(families[ABSOLUTE])
    assert start == ROMFS and start + len(image) <= FILES and len(image) % 4096 == 0
    files = read_romfs(image)
    assert list(files) == ["faces.tti"]
    assert files["faces.tti"].data == (repo / "models" / "faces.tti").read_bytes()
    assert (start + files["faces.tti"].offset) % 16 == 0


def test_full_uf2_is_both(pico2):
    families = uf2(pico2 / "tti-pico2-full.uf2")
    assert set(families) == {ARM}
    start, image = memory(families[ARM])
    _, firmware = memory(uf2(pico2 / "tti-pico2.uf2")[ARM])
    _, romfs = memory(uf2(pico2 / "tti-pico2-model.uf2")[ABSOLUTE])
    assert start == FLASH
    used = len((pico2 / "firmware.bin").read_bytes())
    assert image[:used] == firmware[:used]
    assert image[used : ROMFS - FLASH].count(0xFF) == ROMFS - FLASH - used
    assert image[ROMFS - FLASH :] == romfs


def test_package_and_editor_are_in_the_firmware(symbols):
    assert {"tti_module", "__wrap_readline"} <= set(symbols)
    frozen = {name for name in symbols if name.startswith("frozen_module_tti_")}
    assert {"frozen_module_tti_pipeline", "frozen_module_tti_dit"} <= frozen


def functions(pico2):
    """Disassembly of every function by name."""
    listing = subprocess.run(
        ["arm-none-eabi-objdump", "-d", "--no-show-raw-insn", pico2 / "firmware.elf"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    parts = re.split(r"^[0-9a-f]{8} <([^>]+)>:\n", listing, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def kernel_functions(repo, pico2):
    """Disassembly of the functions of native/core, by the objects that the build made of it."""
    objects = sorted((pico2 / "CMakeFiles").glob("**/native/core/*.o"))
    sources = [
        path for path in (repo / "native" / "core").iterdir() if path.suffix in (".c", ".S")
    ]
    assert {path.name.removesuffix(".o") for path in objects} == {path.name for path in sources}
    listing = subprocess.run(
        ["arm-none-eabi-nm", "--defined-only", *objects],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    names = set(re.findall(r"^[0-9a-f]+ [tT] ([a-z]\w+)$", listing, re.MULTILINE))
    return {name: code for name, code in functions(pico2).items() if name in names}


FUSED = re.compile(r"\bvfn?m[as]\b")


def test_kernels_fuse_no_multiply_and_add(repo, pico2):
    """vmla rounds the product, so it is no fused instruction; vfma does not."""
    found = kernel_functions(repo, pico2)
    assert {"tti_product", "tti_product_ref", "tti_conv3x3_s8", "tti_noise"} <= set(found)
    assert [name for name, code in found.items() if FUSED.search(code)] == []
    assert any("vmul.f32" in code for code in found.values()), "floats are not in hardware"


def test_fused_instructions_would_be_seen(repo, tmp_path):
    """The compiler fuses in the same sources when it is allowed to."""
    flags = ["-O3", "-mcpu=cortex-m33", "-march=armv8-m.main+fp+dsp", "-mfloat-abi=softfp"]
    source = repo / "native" / "core" / "vectors.c"
    command = ["arm-none-eabi-gcc", *flags, "-ffp-contract=fast", "-S", "-o", "-", source]
    assert FUSED.search(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_second_core_is_started_by_the_ports_own_thread(pico2):
    """So that the port locks it out while flash is written."""
    code = functions(pico2)
    start, stop = (
        set(re.findall(r"<(\w+)>", code[f"tti_parallel_{name}"])) for name in ("start", "stop")
    )
    assert "mp_thread_create" in start
    assert "multicore_reset_core1" in stop
    assert not any("launch" in name for name in start | stop)


def test_inner_loops_run_from_ram(elf, symbols):
    """In flash they would compete with the weights for the cache."""
    hot = {name: at for name, at in symbols.items() if name.startswith("tti_m33_")}
    inner = [name for name, at in hot.items() if RAM <= at < RAM_END]
    assert {"tti_m33_panel2", "tti_m33_quantize_row"} <= set(inner)
    data = elf.get_section_by_name(".data")
    for name in inner:
        assert data["sh_addr"] <= hot[name] < data["sh_addr"] + data["sh_size"]


def sizes(repo, folder, *arguments):
    script = folder / "sizes.py"
    return subprocess.run(
        ["python3", script, *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture
def own_board(repo, tmp_path):
    """A copy of the board's folder to change."""
    return shutil.copytree(repo / "board_configs" / "pico2", tmp_path / "pico2")


def test_sizes_are_shown(repo, pico2, symbols):
    done = sizes(repo, repo / "board_configs" / "pico2", pico2 / "firmware.elf", "3371008")
    assert (done.returncode, done.stderr) == (0, "")
    firmware = symbols["__flash_binary_end"] - FLASH
    assert re.search(rf"flash: firmware +{firmware:,} +{ROMFS - FLASH:,}\n", done.stdout)
    assert re.search(rf"ROMFS with the model +3,371,008 +{FILES - ROMFS:,}\n", done.stdout)


@pytest.mark.parametrize(
    ("file", "right", "wrong", "sentence"),
    [
        ("mpconfigboard.h", "(3328 * 1024)", "(3840 * 1024)", "flash: firmware takes"),
        ("mpconfigboard.h", "(3328 * 1024)", "(3200 * 1024)", "ROMFS with the model takes"),
        ("sizes.py", "= 28 * 1024", "= 4 * 1024", "RAM: vectors, data, bss takes"),
        ("sizes.py", "= 520 * 1024", "= 600 * 1024", "Python's heap has"),
    ],
)
def test_exceeded_limit_fails(repo, pico2, own_board, file, right, wrong, sentence):
    text = (own_board / file).read_text()
    assert right in text
    (own_board / file).write_text(text.replace(right, wrong))
    done = sizes(repo, own_board, pico2 / "firmware.elf", "3371008")
    assert done.returncode == 1
    assert sentence in done.stderr


def test_model_that_is_too_large_is_refused(repo, pico2, tmp_path):
    (tmp_path / "large.tti").write_bytes(bytes(FILES - ROMFS))
    script = repo / "board_configs" / "pico2" / "images.py"
    command = ["python3", script, pico2 / "firmware.bin", tmp_path / "large.tti", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "choose a smaller MODEL" in done.stderr
    assert not (tmp_path / "romfs.bin").exists()
