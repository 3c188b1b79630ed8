"""Writes compute.json: random expressions and their exact values by Python's
own parser and fractions.Fraction, whose operators mean the same. Run it as
python3 make.py > compute.json"""
import ast
import json
import random
from fractions import Fraction

rng = random.Random(20240817)


def number():
    kind = rng.random()
    if kind < 0.5:
        return str(rng.randrange(10 ** rng.choice([1, 1, 2, 3, 6, 20, 40])))
    if kind < 0.8:
        return "%d.%0*d" % (rng.randrange(1000), rng.choice([1, 2, 5]), rng.randrange(10))
    if kind < 0.9:
        return "%d.%de%d" % (rng.randrange(10), rng.randrange(100), rng.randrange(-20, 20))
    return "." + str(rng.randrange(1, 100))


def expression(depth):
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        return number()
    if kind < 0.7:
        op = rng.choice(["+", "-", "*", "/", "//", "%", "+", "-", "*"])
        space = rng.choice(["", " "])
        return expression(depth - 1) + space + op + space + expression(depth - 1)
    if kind < 0.85:
        return "(" + expression(depth - 1) + ")"
    if kind < 0.93:
        return rng.choice("-+") + expression(depth - 1)
    return rng.choice(["", "-", "("]).replace("(", "") + "(" + expression(depth - 1) + ") ** " + rng.choice(["0", "1", "2", "3", "-1", "-2", "2 ** 2"])


def value(node):
    if isinstance(node, ast.Expression):
        return value(node.body)
    if isinstance(node, ast.Constant):
        raise TypeError("constants are read by their text")
    if isinstance(node, ast.Call):  # Fraction("…"), see exact
        return Fraction(node.args[0].value)
    if isinstance(node, ast.UnaryOp):
        v = value(node.operand)
        return -v if isinstance(node.op, ast.USub) else v
    a, b = value(node.left), value(node.right)
    op = node.op
    if isinstance(op, ast.Add):
        return a + b
    if isinstance(op, ast.Sub):
        return a - b
    if isinstance(op, ast.Mult):
        return a * b
    if isinstance(op, ast.Div):
        return a / b
    if isinstance(op, ast.FloorDiv):
        return Fraction(a // b)
    if isinstance(op, ast.Mod):
        return a % b
    if b.denominator != 1 or abs(b) > 16:
        raise OverflowError
    return Fraction(a) ** b.numerator


def exact(text):
    """The value of an expression; every number in it is a Fraction."""
    import re
    wrapped = re.sub(r"\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?", lambda m: 'F("%s")' % m[0], text)
    return value(ast.parse(wrapped, mode="eval"))


cases = []
while len(cases) < 500:
    text = expression(rng.choice([1, 2, 3, 4]))
    try:
        v = exact(text)
    except ZeroDivisionError:
        cases.append([text, "division by zero"])
        continue
    except OverflowError:
        continue
    if len(text) < 300 and v.numerator.bit_length() + v.denominator.bit_length() < 2000:
        cases.append([text, str(v)])
print("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]")
