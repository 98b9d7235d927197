"""One picture from attributes: shape, style, light, then the kernels, then the film."""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from ttikit.data import hair, palette, scene, styling, worn
from ttikit.data.accessories import Canvas, draw_accessories
from ttikit.data.asset import LEFT_EYE, RIGHT_EYE, SKULL_CENTRE, Head, load_head
from ttikit.data.attributes import Attributes
from ttikit.data.look import Garment, Look
from ttikit.data.person import build_shape
from ttikit.data.raster import (
    FAR,
    Light,
    fill_triangles,
    project_points,
    shadow_map,
    shrink,
    vertex_normals,
)
from ttikit.data.shading import shade_surface
from ttikit.data.strands import draw_strands

RENDERER_VERSION = 1
"""Raised whenever the same seed gives other pictures."""

_SUPERSAMPLING = 3


@dataclass(frozen=True)
class _Mesh:
    """The head with everything worn, posed; one row a vertex or a triangle."""

    world: np.ndarray
    normals: np.ndarray
    canonical: np.ndarray
    triangles: np.ndarray
    material: np.ndarray
    masks: np.ndarray
    occlusion: np.ndarray
    colour: np.ndarray


def render_picture(person: Attributes, rng: np.random.Generator, size: int = 64) -> np.ndarray:
    """Draw a person: sRGB uint8 (size, size, 3). All other choices come from `rng`."""
    head = load_head()
    shape = build_shape(head, person, rng)
    colours = styling.choose_colours(person, shape, rng)
    pose = scene.choose_pose(rng)
    look = styling.choose_look(person, shape, colours, pose.yaw, pose.pitch, rng)
    style = styling.choose_hair(person, shape, rng)
    kind, garment = styling.choose_garment(person, rng)
    radius = head.skull_radius(shape.vertices)
    hat = worn.make_hat(radius, rng) if person["Wearing_Hat"] else None
    normals = vertex_normals(shape.vertices, head.triangles)
    dressed = _inflate(head, shape.vertices, normals, garment)
    parts = worn.worn_parts(person, kind, garment, head, dressed, rng)
    mesh = _assemble(head, dressed, parts + (hat.parts if hat else []), pose)
    unit = size / 64 * _SUPERSAMPLING
    tufts = hair.grow_all(
        person,
        head,
        shape.vertices,
        normals,
        radius,
        look,
        colours,
        style,
        hat,
        unit,
        rng,
    )
    light = scene.choose_light(rng)
    eyes = np.stack([_eye_centre(head, shape.vertices, side) for side in (LEFT_EYE, RIGHT_EYE)])
    pixels = size * _SUPERSAMPLING
    left, right = pose(eyes)
    camera = scene.choose_camera(person, left, right, pose.yaw, pixels, rng)
    canvas = Canvas(
        np.zeros((pixels, pixels, 3)),
        np.zeros((pixels, pixels)),
        np.full((pixels, pixels), FAR),
        pose,
        camera,
        light,
        unit,
    )
    _draw(canvas, mesh, tufts, look, garment)
    draw_accessories(person, head, dressed, eyes, canvas, rng)
    return _develop(canvas, person, colours.melanin, size, rng)


def _inflate(
    head: Head, vertices: np.ndarray, normals: np.ndarray, garment: Garment
) -> np.ndarray:
    """Push the body out below the neckline, so that cloth has thickness."""
    neck = garment.neck + garment.neck_side * abs(head.rest[:, 0])
    neck += garment.neck_back * np.maximum(0, 0.55 - head.rest[:, 2])
    depth = np.clip((neck + 0.04 - head.rest[:, 1]) / 0.12, 0, 1)
    return vertices + normals * (0.045 * depth)[:, None]


def _eye_centre(head: Head, vertices: np.ndarray, side: int) -> np.ndarray:
    return vertices[np.unique(head.triangles[head.material == side])].mean(0)


def _assemble(head: Head, vertices: np.ndarray, parts: list[worn.Part], pose: scene.Pose) -> _Mesh:
    points, triangles, material = [vertices], [head.triangles], [head.material]
    colour = [np.zeros((len(vertices), 3))]
    offset = len(vertices)
    for part in parts:
        points.append(part.vertices)
        triangles.append(part.triangles + offset)
        material.append(np.full(len(part.triangles), part.material, np.int32))
        colour.append(np.tile(part.colour, (len(part.vertices), 1)))
        offset += len(part.vertices)
    everything = np.concatenate(points)
    all_triangles = np.concatenate(triangles).astype(np.int32)
    extra = len(everything) - len(vertices)
    world = pose(everything)
    return _Mesh(
        world=world,
        normals=vertex_normals(world, all_triangles),
        canonical=np.concatenate([head.rest, everything[len(vertices) :]]),
        triangles=all_triangles,
        material=np.concatenate(material).astype(np.int32),
        masks=np.concatenate([head.masks, np.zeros((extra, head.masks.shape[1]))]),
        occlusion=np.concatenate([head.occlusion, np.full(extra, 0.8)]),
        colour=np.concatenate(colour),
    )


def _draw(
    canvas: Canvas, mesh: _Mesh, tufts: list[hair.Tuft], look: Look, garment: Garment
) -> None:
    """Depth of the mesh, then the strands, then the colour of the mesh where it still shows."""
    posed = [np.ascontiguousarray(canvas.pose(tuft.strands.points)) for tuft in tufts]
    shadows = _shadows(mesh, posed, canvas.light)
    pixels = len(canvas.depth)
    index = np.full((pixels, pixels), -1, np.int32)
    weights = np.zeros((pixels, pixels, 2))
    screen = project_points(mesh.world, canvas.camera)
    fill_triangles(screen, mesh.triangles, canvas.depth, index, weights)
    centre = canvas.pose(SKULL_CENTRE[None])[0]
    for tuft, world in zip(tufts, posed, strict=True):
        flat = project_points(world.reshape(-1, 3), canvas.camera)
        draw_strands(
            flat.reshape(world.shape),
            world,
            tuft.strands.layer,
            tuft.strands.chance,
            tuft.fibre,
            centre,
            canvas.light,
            shadows,
            canvas.depth,
            canvas.image,
            canvas.alpha,
        )
    shade_surface(
        index,
        weights,
        mesh.triangles,
        mesh.material,
        mesh.normals,
        mesh.canonical,
        mesh.world,
        mesh.masks,
        mesh.occlusion,
        mesh.colour,
        look,
        garment,
        canvas.light,
        shadows,
        canvas.image,
        canvas.alpha,
    )


def _shadows(mesh: _Mesh, posed: list[np.ndarray], light: Light) -> np.ndarray:
    casting = [p[:, 1::2].reshape(-1, 3) for p in posed]
    strand_points = np.concatenate(casting) if casting else np.zeros((0, 3))
    return shadow_map(mesh.world, mesh.triangles, strand_points, light)


def _develop(
    canvas: Canvas, person: Attributes, melanin: float, size: int, rng: np.random.Generator
) -> np.ndarray:
    """Supersampled linear light to the final sRGB picture: background, exposure, lens, film."""
    between = rng.uniform
    front, cover = shrink(canvas.image, canvas.alpha, _SUPERSAMPLING)
    face = front[int(size * 0.44) : int(size * 0.66), int(size * 0.36) : int(size * 0.64)]
    brightness = np.median(face @ (0.21, 0.72, 0.07))
    wanted = (0.37 * (1 - melanin) + 0.13 * melanin) * between(0.9, 1.15)
    wanted += 0.07 * person["Pale_Skin"]
    if person["Sunglasses"]:
        wanted = brightness
    front *= np.clip(wanted / (brightness + 1e-6), 0.5, 1.9)
    picture = front + (1 - cover)[..., None] * scene.background(rng, size)
    blur = between(1.2, 1.6) if person["Blurry"] else between(0.2, 0.4)
    blur *= size / 64
    picture = gaussian_filter(picture, (blur, blur, 0))
    picture = picture * (1 + picture / 4) / (1 + picture * 0.55) * 1.12
    picture = palette.to_srgb(np.clip(picture, 0, 1))
    picture = (picture - 0.5) * between(0.95, 1.12) + 0.5 + rng.normal(0, 0.01)
    grey = (picture @ (0.3, 0.59, 0.11))[..., None]
    picture = grey + (picture - grey) * between(0.95, 1.15)
    picture = picture + rng.normal(0, between(0.002, 0.008), picture.shape)
    return (np.clip(picture, 0, 1) * 255 + 0.5).astype(np.uint8)
