"""Frames without end: a file or a pipe of streams, each of a frame of its own, as `ferrosz compress --frames` writes them.

>>> import io
>>> pipe = io.BytesIO()
>>> with ferrosz.frames.FrameWriter(pipe, ferrosz.Compressor(abs=0.01, preset="fast")) as writer:
...     for time in range(100):
...         writer.write(np.sin(np.arange(2000, dtype="float32").reshape(40, 50) / 100 + time))
>>> frames = ferrosz.frames.Frames(pipe.getvalue())
>>> len(frames), frames[17].shape, sum(1 for frame in frames)
(100, (40, 50), 100)
>>> ferrosz.decompress(frames.stream(17), box=np.s_[3, :10]).shape
(10,)
"""

from __future__ import annotations

from ._ferrosz import FrameReader, Frames, FrameWriter

__all__ = ["FrameReader", "FrameWriter", "Frames"]
