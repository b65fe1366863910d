"""Pictures as data URLs."""

import base64
import binascii
from io import BytesIO

from PIL import Image, UnidentifiedImageError

FORMATS = ("PNG", "JPEG", "GIF", "WEBP")


class PictureUrlError(Exception):
    """The URL holds no usable picture; the text says why."""


def decode_data_url(url: str) -> bytes:
    """Return the bytes of a picture in a data URL.

    Raises:
        PictureUrlError: It is no data URL, no base64, or no whole picture.

    """
    head, comma, data = url.partition(",")
    if not url.startswith("data:"):
        raise PictureUrlError(f"Failed to download image from {url[:100]}.")
    if not comma or not head.endswith(";base64") or not head.startswith("data:image/"):
        raise PictureUrlError("Invalid MIME type. Only image types are supported.")
    try:
        raw = base64.b64decode(data, validate=True)
    except binascii.Error:
        raise PictureUrlError("Invalid base64 image_url.") from None
    try:
        with Image.open(BytesIO(raw), formats=FORMATS) as image:
            image.draft("L", (image.width // 8, image.height // 8))
            image.load()
    except UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError:
        raise PictureUrlError(
            "You uploaded an unsupported image. Please make sure your image is valid and has "
            "one of the following formats: ['png', 'jpeg', 'gif', 'webp']."
        ) from None
    return raw
