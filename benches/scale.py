"""What a field in parts costs: messages, bytes, pieces and seconds of each member, for any number of members.

The counts follow from the rules of host/src/parts: a chunk belongs to the member that has its first element, and a slab of
the chunk table to each member. `--check` prints them for the boxes of `ferrosz-lab parts`, which counts what the members
really do. Without it, a plan for a field of terabytes is printed, from these counts, measured rates of compression, and
assumed figures of a network and a file system, which are named.

    python benches/scale.py --check --edge 512 --members 8
    python benches/scale.py
"""

import argparse
import math
import random
from collections import Counter

# Extents of a unit of storage: a chunk of `plain` in a large cube; four tiles of `interp`.
CHUNK = {"plain": (16, 16, 32), "interp": (16, 16, 256)}
# Extents of a unit that is encoded as a whole, and so has a window of values.
TILE = {"plain": (16, 16, 32), "interp": (16, 16, 64)}
# Positions behind a tile along each axis that its prediction reads.
FACE = {"plain": 0, "interp": 1}
ENTRY_BYTES, TOLD_BYTES, START_BYTES, WINDOW_BYTES = 16, 40, 8, 48
HEADER_BYTES = 160


def lab_boxes(edge, members):
    """The boxes of `ferrosz-lab parts`: the largest is cut in the middle of its longest axis."""
    boxes = [((0, edge),) * 3]
    while len(boxes) < members:
        # As `max_by_key` in Rust, the last of equal ones.
        size = lambda box: math.prod(end - start for start, end in box)
        largest = max(range(len(boxes)), key=lambda i: (size(boxes[i]), i))
        box = boxes[largest]
        boxes[largest] = boxes[-1]
        boxes.pop()
        axis = max(range(3), key=lambda axis: (box[axis][1] - box[axis][0], axis))
        start, end = box[axis]
        middle = (start + end) // 2
        for half in ((start, middle), (middle, end)):
            boxes.append(box[:axis] + (half,) + box[axis + 1 :])
    return boxes


def grid_boxes(lengths, counts):
    cuts = [[length * i // count for i in range(count + 1)] for length, count in zip(lengths, counts)]
    return [
        ((cuts[0][z], cuts[0][z + 1]), (cuts[1][y], cuts[1][y + 1]), (cuts[2][x], cuts[2][x + 1]))
        for z in range(counts[0])
        for y in range(counts[1])
        for x in range(counts[2])
    ]


class Field:
    def __init__(self, lengths, codec):
        self.lengths, self.codec = lengths, codec
        self.chunks = [math.ceil(length / extent) for length, extent in zip(lengths, CHUNK[codec])]
        self.count = math.prod(self.chunks)

    def owned(self, box):
        """The numbers along each axis of the chunks whose first element is in a box."""
        return [
            range(-(-start // extent), -(-end // extent))
            for (start, end), extent in zip(box, CHUNK[self.codec])
        ]

    def foreign(self, box, neighbours):
        """Windows that a member asks for, their values by owner, and requests by owner."""
        tile, face = TILE[self.codec], FACE[self.codec]
        per_chunk = CHUNK[self.codec][2] // tile[2]
        z, y, x = self.owned(box)
        tiles = [
            [(i * tile[0], min(self.lengths[0], (i + 1) * tile[0] + face)) for i in z],
            [(i * tile[1], min(self.lengths[1], (i + 1) * tile[1] + face)) for i in y],
            [
                (i * tile[2], min(self.lengths[2], (i + 1) * tile[2] + face))
                for i in range(x.start * per_chunk, x.stop * per_chunk)
                if i * tile[2] < self.lengths[2]
            ],
        ]
        # A window is a product of ranges along the axes, so that sums over all windows are products, too.
        values, requests = Counter(), Counter()
        for number, other in neighbours:
            overlap = [[min(w[1], o[1]) - max(w[0], o[0]) for w in axis] for axis, o in zip(tiles, other)]
            overlap = [[max(0, v) for v in axis] for axis in overlap]
            all_values = math.prod(sum(axis) for axis in overlap)
            if all_values == 0:
                continue
            values[number] += all_values
            requests[number] += math.prod(sum(v > 0 for v in axis) for axis in overlap)
        return values, requests

    def rows(self, box):
        """Runs of consecutive chunks: the number of the first, and their count."""
        z, y, x = self.owned(box)
        if len(x) == 0:
            return
        for i in z:
            for j in y:
                yield (i * self.chunks[1] + j) * self.chunks[2] + x.start, len(x)


def slab_of(field, members, chunk, first_entries):
    """The member that has the table's entry of a chunk."""
    entries = field.count + first_entries
    entry = chunk + first_entries
    member = entry * members // entries
    while entries * (member + 1) // members <= entry:
        member += 1
    return member


def cost(field, boxes, rank, neighbours, first_entries=0, element=4):
    """Messages, bytes and pieces of one member."""
    members = len(boxes)
    values, requests = field.foreign(boxes[rank], neighbours)
    table, pieces, end, owned = set(), 0, None, 0
    for first, count in field.rows(boxes[rank]):
        owned += count
        if first != end:
            pieces += 1
        end = first + count
        low = slab_of(field, members, first, first_entries)
        high = slab_of(field, members, first + count - 1, first_entries)
        table.update(range(low, high + 1))
    table.discard(rank)
    return {
        "chunks": owned,
        "neighbours": len(values),
        "asked_bytes": sum(requests.values()) * WINDOW_BYTES,
        "halo_bytes": sum(values.values()) * element,
        "slabs": len(table),
        "pieces": pieces,
    }


def check(edge, members):
    boxes = lab_boxes(edge, members)
    print("| codec | members | neighbours asked | MB of windows and values | slabs told | runs of chunks and slabs |")
    print("| --- | --- | --- | --- | --- | --- |")
    for codec in CHUNK:
        field = Field((edge,) * 3, codec)
        totals = Counter()
        for rank in range(members):
            others = [(i, box) for i, box in enumerate(boxes) if i != rank]
            totals.update(cost(field, boxes, rank, others, 1 if codec == "interp" else 0))
        sent = (totals["asked_bytes"] + totals["halo_bytes"]) / 1e6
        print(
            f"| `{codec}` | {members} | {totals['neighbours']} | {sent:.2f} | {totals['slabs']} | {totals['pieces'] + members} |"
        )


def plan(args):
    lengths = (args.edge,) * 3
    counts = tuple(args.counts)
    boxes = grid_boxes(lengths, counts)
    members = len(boxes)
    elements = math.prod(lengths)
    print(f"Field {args.edge}^3 f32, {4 * elements / 1e12:.2f} TB, {members} members as {counts[0]} x {counts[1]} x {counts[2]} boxes")
    rng = random.Random(1)
    for codec, rate, ratio in (("plain", args.plain, 4.4), ("interp", args.interp, 14.6)):
        field = Field(lengths, codec)
        found = []
        for rank in rng.sample(range(members), 60):
            z, y, x = rank // (counts[1] * counts[2]), rank // counts[2] % counts[1], rank % counts[2]
            near = []
            for dz in (-1, 0, 1):
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        at = (z + dz, y + dy, x + dx)
                        if at != (z, y, x) and all(0 <= a < c for a, c in zip(at, counts)):
                            number = (at[0] * counts[1] + at[1]) * counts[2] + at[2]
                            near.append((number, boxes[number]))
            found.append(cost(field, boxes, rank, near))
        mean = {key: sum(one[key] for one in found) / len(found) for key in found[0]}
        most = {key: max(one[key] for one in found) for key in found[0]}
        own = 4 * elements / members
        stream = 4 * elements / ratio
        table = ENTRY_BYTES * field.count
        seconds = {
            "compress": own / (rate * 1e9),
            "values of others": (mean["halo_bytes"] + mean["asked_bytes"]) / args.link + 4 * mean["neighbours"] * args.latency,
            "boxes of all, allreduce": 2 * 48 * members / args.link + 2 * math.log2(members) * args.latency,
            "counts and parameters, allreduce": 10 * 2 * math.log2(members) * args.latency,
            "lengths and starts": 2 * mean["slabs"] * args.latency + mean["chunks"] * (TOLD_BYTES + START_BYTES) / args.link,
            "write, collective": (stream + table) / args.storage,
        }
        # Stragglers: the step ends with the last member.
        slowest = sorted(
            max(rng.lognormvariate(0, args.spread) * (2 if rng.random() < args.slow else 1) for _ in range(members))
            for _ in range(20)
        )
        seconds["waiting for the slowest"] = (slowest[10] - 1) * seconds["compress"]
        print(f"\n`{codec}`, ratio {ratio}: stream {stream / 1e12:.2f} TB, {field.count:.3g} chunks, table {table / 1e9:.2f} GB\n")
        print("| of a member | mean | most |\n| --- | --- | --- |")
        print(f"| values, MB | {own / 1e6:.0f} | |")
        for key, name, unit in (
            ("chunks", "chunks", 1),
            ("neighbours", "members asked for values", 1),
            ("halo_bytes", "values of others, MB", 1e6),
            ("slabs", "members told of lengths", 1),
            ("pieces", "pieces written", 1),
        ):
            print(f"| {name} | {mean[key] / unit:.1f} | {most[key] / unit:.1f} |")
        print(f"| bytes of a piece, kB | {stream / members / max(1, mean['pieces']) / 1e3:.0f} | |")
        print("\n| step | seconds |\n| --- | --- |")
        for name, value in seconds.items():
            print(f"| {name} | {value:.4f} |")
        print(f"| *sum* | {sum(seconds.values()):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="counts for the boxes of `ferrosz-lab parts`")
    parser.add_argument("--edge", type=int, default=None)
    parser.add_argument("--members", type=int, default=8)
    parser.add_argument("--counts", type=int, nargs=3, default=(20, 20, 25), help="boxes along each axis")
    parser.add_argument("--plain", type=float, default=2.0, help="GB/s of a core, measured")
    parser.add_argument("--interp", type=float, default=0.76, help="GB/s of a core, measured")
    parser.add_argument("--link", type=float, default=2e9, help="bytes a second of a member's share of the network, assumed")
    parser.add_argument("--latency", type=float, default=3e-6, help="seconds of a message, assumed")
    parser.add_argument("--storage", type=float, default=2e11, help="bytes a second of the file system, assumed")
    parser.add_argument("--spread", type=float, default=0.05, help="of the logarithm of a member's time, assumed")
    parser.add_argument("--slow", type=float, default=1e-4, help="share of members that take twice as long, assumed")
    args = parser.parse_args()
    if args.check:
        check(args.edge or 512, args.members)
    else:
        args.edge = args.edge or 13_572
        plan(args)


main()
