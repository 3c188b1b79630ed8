"""Draws the curves of training as an SVG, from log.csv and dev.csv.

    plot.py DIR OUT.svg

Left axis, logarithmic: cross entropy of the tokens of calls that are a choice
(nats a token). Right axis: share of the development tasks without a wrong token.
"""

import csv
import math
import sys

W, H, LEFT, RIGHT, TOP, BOTTOM = 900, 420, 70, 60, 30, 60


def rows(path):
    with open(path, newline="") as f:
        return list(csv.DictReader(f))


def main(folder, out):
    log, dev = rows(f"{folder}/log.csv"), rows(f"{folder}/dev.csv")
    tokens = max(float(r["tokens"]) for r in log) / 1e6
    low, high = min(float(r["loss"]) for r in log), max(float(r["loss"]) for r in log)
    low, high = 10 ** (math.floor(math.log10(low) * 4) / 4), 10 ** (math.ceil(math.log10(high) * 4) / 4)

    def x(t):
        return LEFT + (W - LEFT - RIGHT) * t / tokens

    def y(loss):
        return TOP + (H - TOP - BOTTOM) * (math.log(high) - math.log(loss)) / (math.log(high) - math.log(low))

    def share(s):
        return TOP + (H - TOP - BOTTOM) * (1 - s)

    def line(points, colour):
        return f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="' + " ".join(f"{a:.1f},{b:.1f}" for a, b in points) + '"/>'

    s = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="13">', f'<rect width="{W}" height="{H}" fill="white"/>']
    for v in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5):
        if low <= v <= high:
            s.append(f'<line x1="{LEFT}" x2="{W - RIGHT}" y1="{y(v):.1f}" y2="{y(v):.1f}" stroke="#ddd"/><text x="{LEFT - 8}" y="{y(v) + 4:.1f}" text-anchor="end" fill="#1f4e9c">{v}</text>')
    for v in (0, 0.25, 0.5, 0.75, 1):
        s.append(f'<text x="{W - RIGHT + 8}" y="{share(v) + 4:.1f}" fill="#b0561b">{v:.0%}</text>')
    every = max(1, round(tokens / 10))
    for t in range(0, int(tokens) + 1, every):
        s.append(f'<text x="{x(t):.1f}" y="{H - BOTTOM + 20}" text-anchor="middle">{t}</text>')
    s.append(f'<text x="{(LEFT + W - RIGHT) / 2}" y="{H - 14}" text-anchor="middle">tokens of training, millions</text>')
    s.append(f'<text x="{LEFT}" y="18" fill="#1f4e9c">loss, nats a token</text><text x="{W - RIGHT}" y="18" text-anchor="end" fill="#b0561b">development tasks without a wrong token</text>')
    s.append(f'<rect x="{LEFT}" y="{TOP}" width="{W - LEFT - RIGHT}" height="{H - TOP - BOTTOM}" fill="none" stroke="#444"/>')
    s.append(line([(x(float(r["tokens"]) / 1e6), y(float(r["loss"]))) for r in log], "#1f4e9c"))
    s.append(line([(x(float(r["tokens"]) / 1e6), share(float(r["all"]))) for r in dev], "#b0561b"))
    s.append("</svg>")
    with open(out, "w") as f:
        f.write("\n".join(s) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
