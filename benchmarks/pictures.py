"""Pictures of a phone, drawn."""

from io import BytesIO

from PIL import Image, ImageDraw


def screen(number: int) -> bytes:
    """Return the JPEG of a plain screen; each number has its own."""
    image = Image.new("RGB", (360, 800), (240, 240, 244))
    draw = ImageDraw.Draw(image)
    for line in range(10):
        top = 60 + line * 70
        draw.rectangle(
            (30, top, 150 + 90 * ((line + number) % 2), top + 30), (30, 30, 40)
        )
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=80)
    return buffer.getvalue()
