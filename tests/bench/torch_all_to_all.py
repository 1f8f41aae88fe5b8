#!/usr/bin/env python3
"""torch_all_to_all.py [--gpus P] [--size N,N...] [--type f32,c128] [--seconds S]: the transpose of n x n in slabs of rows by
PyTorch's all_to_all_single, a process for each GPU: a permute that packs, the exchange, a permute that unpacks. Prints a
line of JSON for the bare exchange and for the transpose of each size: the median over samples of the slowest process.
Every output is compared, bit by bit. n must be a multiple of P. Exits with 1 when an output is wrong.
"""
import argparse
import json
import os
import socket
import sys
import time

# NVLink multicast stays off.
os.environ.setdefault("NCCL_NVLS_ENABLE", "0")


def matrix(torch, kind, rows, cols, first, step_down, step_across, device):
    """Elements whose value is their index in the whole array."""
    down = torch.arange(rows, device=device, dtype=torch.int64) * step_down + first
    index = down[:, None] + torch.arange(cols, device=device, dtype=torch.int64)[None, :] * step_across
    if kind == "f32":
        return index.to(torch.int32).view(torch.float32)
    return torch.complex(index.double(), -index.double())


def same(torch, kind, a, b):
    if kind == "f32":
        return bool(torch.equal(a.view(torch.int32), b.view(torch.int32)))
    return bool(torch.equal(torch.view_as_real(a), torch.view_as_real(b)))


def measured(torch, dist, call, seconds):
    def once(calls):
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
        torch.cuda.synchronize()
        took = torch.tensor([(time.perf_counter() - begin) / calls], device="cuda", dtype=torch.float64)
        dist.all_reduce(took, op=dist.ReduceOp.MAX)
        return float(took.item())

    once(2)
    calls = max(1, int(5e-3 / once(3)))
    samples = []
    until = time.perf_counter() + seconds
    for _ in range(15):
        samples.append(once(calls))
        more = torch.tensor([1.0 if time.perf_counter() < until else 0.0], device="cuda")
        dist.all_reduce(more, op=dist.ReduceOp.MIN)
        if len(samples) >= 3 and more.item() == 0:
            break
    return sorted(samples)[len(samples) // 2]


def of_size(torch, dist, rank, size, kind, n, seconds):
    device = torch.device("cuda", rank)
    part = n // size
    there = matrix(torch, kind, part, n, rank * part * n, n, 1, device)
    wanted = matrix(torch, kind, part, n, rank * part, 1, n, device)
    packed = torch.empty((size, part, part), device=device, dtype=there.dtype)
    got = torch.empty_like(packed)
    result = torch.empty_like(wanted)
    real = (lambda t: torch.view_as_real(t)) if kind == "c128" else (lambda t: t)

    def exchange():
        dist.all_to_all_single(real(got), real(packed))

    def transpose():
        packed.copy_(there.view(part, size, part).permute(1, 2, 0))  # by peer, its rows, my rows
        exchange()
        result.view(part, size, part).copy_(got.permute(1, 0, 2))

    rows = []
    for method, call in (("torch all_to_all_single", exchange), ("torch transpose", transpose)):
        took = measured(torch, dist, call, seconds)
        sent = there.numel() * there.element_size() * (size - 1) / size
        row = {"gpus": size, "type": kind, "n": n, "method": method, "us": round(took * 1e6, 2),
               "gbps": round(sent / took * 1e-9, 2)}
        if call is transpose:
            right = torch.tensor([1.0 if same(torch, kind, result, wanted) else 0.0], device=device)
            dist.all_reduce(right, op=dist.ReduceOp.MIN)
            row["right"] = right.item() == 1
        rows.append(row)
    return rows


def process(rank, size, port, arguments, outcome):
    import torch
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=size)
    for kind in arguments.type.split(","):
        for n in map(int, arguments.size.split(",")):
            for row in of_size(torch, dist, rank, size, kind, n, arguments.seconds):
                if rank == 0:
                    print(json.dumps(row), flush=True)
                    if not row.get("right", True):
                        outcome.value = 1
    dist.destroy_process_group()


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--gpus", type=int, default=2)
    words.add_argument("--size", default="2048,4096,8192,16384")
    words.add_argument("--type", default="f32")
    words.add_argument("--seconds", type=float, default=0.5, help="of each row")
    arguments = words.parse_args()
    for kind in arguments.type.split(","):
        if kind not in ("f32", "c128"):
            sys.exit(f"no type {kind}: f32 and c128 are known")
    for n in map(int, arguments.size.split(",")):
        if n % arguments.gpus:
            sys.exit(f"{n} is no multiple of {arguments.gpus}")
    import torch.multiprocessing as processes

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = processes.get_context("spawn")
    outcome = context.Value("i", 0)
    processes.start_processes(process, args=(arguments.gpus, port, arguments, outcome), nprocs=arguments.gpus,
                              start_method="spawn")
    return outcome.value


if __name__ == "__main__":
    sys.exit(main())
