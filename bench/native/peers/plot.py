"""Draws the figures of table.csv as an SVG: CSV SVG."""

import csv
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "leveret"
import matplotlib.pyplot as plt

source, target = sys.argv[1:]
with open(source, newline="") as f:
    rows = [r for r in csv.DictReader(f) if r["engine"] != "machine" and not r["isa"]]
shown = [m for m in ("decode", "prefill", "first", "memory") if any(r["measure"] == m for r in rows)]
threads = sorted({int(r["threads"]) for r in rows})
names = []
for r in rows:
    r["name"] = " ".join(x for x in (r["engine"], r["form"], r["mode"]) if x)
    if r["measure"] in shown and r["name"] not in names:
        names.append(r["name"])

fig, axes = plt.subplots(1, len(shown), figsize=(4 * len(shown) + 2, 1 + 0.28 * len(names) * max(1, len(threads)) / 1.6), sharey=True, layout="constrained", squeeze=False)
for ax, measure in zip(axes[0], shown):
    for i, n in enumerate(threads):
        height = 0.8 / len(threads)
        for r in rows:
            if r["measure"] != measure or int(r["threads"]) != n:
                continue
            y = names.index(r["name"]) + (i - (len(threads) - 1) / 2) * height
            median, least, most = (float(r[k]) for k in ("median", "least", "most"))
            ours = r["engine"] == "leveret"
            ax.barh(y, median, height, color=("#1b6ca8" if ours else "#9a9a9a"), alpha=1 if i else 0.6, hatch="" if r["tokens"] != "lost" else "///", edgecolor="white", linewidth=0,
                    xerr=[[median - least], [most - median]], error_kw={"linewidth": 0.8})
            unit, title = r["unit"], r["title"]
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(unit + (" (less is better)" if measure in ("first", "memory") else ""), fontsize=8)
    ax.tick_params(labelsize=7)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
axes[0][0].set_yticks(range(len(names)), names)
axes[0][0].invert_yaxis()
fig.suptitle("Pale: one thread; full: all. Hatched: loses the reference's tokens", fontsize=8)
fig.savefig(target, metadata={"Date": None})
