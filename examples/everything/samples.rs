//! A picture and a sound, as small as they get.

/// A PNG of one pixel.
pub(crate) const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\
    \0\0\0\x0cIDATx\xdac8\xe0\xa0\0\0\x02\xe4\x01!\xbf\xd8\x1bd\0\0\0\0IEND\xaeB`\x82";

/// A WAV of four samples.
pub(crate) const CLICK: &[u8] = b"RIFF(\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0@\x1f\0\0@\x1f\0\0\
    \x01\0\x08\0data\x04\0\0\0\x80\xa0\x80`";
