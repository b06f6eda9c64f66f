"""Draws what RESULTS.md has of jobs by their ranks, both axes logarithmic: python test/bench/jobs/picture.py > media/pictures/job-scale.svg"""

import math

RANKS = (10, 100, 1000, 10000)  # the last one on paper: dashed
LINES = {
    "report": (0.08, 0.11, 0.32, 2.7),
    "slowest query": (0.02, 0.06, 0.49, 4.9),
    "what differs": (0.001, 0.003, 0.021, 0.2),
}
COLOURS = ("#2a6fdb", "#c2571a", "#2e8b57")
WIDTH, HEIGHT, LEFT, TOP = 560, 300, 60, 20


def at(ranks, seconds):
    x = LEFT + (math.log10(ranks) - 1) / 3 * (WIDTH - LEFT - 120)
    y = TOP + (1 - (math.log10(seconds) + 3) / 4) * (HEIGHT - TOP - 40)
    return round(x, 1), round(y, 1)


def text(x, y, words, more=""):
    return f'<text x="{x}" y="{y}" {more}>{words}</text>'


parts = [f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
for seconds in (0.001, 0.01, 0.1, 1, 10):
    x, y = at(10, seconds)
    parts += [f'<path d="M{x} {y}H{WIDTH - 120}" stroke="#ddd"/>', text(x - 8, y + 4, f"{seconds:g} s", 'text-anchor="end"')]
for ranks in RANKS:
    parts.append(text(at(ranks, 1)[0], HEIGHT - 14, f"{ranks:,}", 'text-anchor="middle"'))
parts.append(text(WIDTH - 60, HEIGHT - 14, "ranks"))
for (name, values), colour in zip(LINES.items(), COLOURS):
    points = [at(*each) for each in zip(RANKS, values)]
    for (x, y), (to_x, to_y), dash in zip(points, points[1:], ("", "", 'stroke-dasharray="5 4"')):
        parts.append(f'<path d="M{x} {y}L{to_x} {to_y}" stroke="{colour}" stroke-width="2" {dash}/>')
    parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
    parts.append(text(points[-1][0] + 8, points[-1][1] + 4, name, f'fill="{colour}"'))
head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#333" role="img"'
print(head + ' aria-label="Seconds by ranks, both logarithmic">' + "".join(parts) + "</svg>")
