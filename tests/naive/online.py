"""Online learners written from their formulas with lists and loops: slow and obvious."""

from __future__ import annotations

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def pegasos(rows, signs, weights, batches, lambda_, delay=0.0, intercept="penalised"):
    """All iterates β(1), β(2), ... of Pegasos, the intercept as the last entry.

    ``batches`` lists the row numbers of each step. ``delay`` is a number, or "auto": the largest
    mean of ‖u‖²/(λ c) so far, c the largest weight. ``intercept`` is "none", "penalised" or "free".
    """
    constant = 1.0 if intercept == "penalised" else 0.0
    rows = [[*map(float, row), constant] for row in rows]
    heaviest = max(weights)
    beta, bias = [0.0] * len(rows[0]), 0.0
    theta = [0.0] * len(rows[0])
    tau, squares = (0.0 if delay == "auto" else delay), []
    iterates, directions = [[*beta[:-1], bias if intercept == "free" else beta[-1]]], []
    for t, batch in enumerate(batches, start=1):
        u, pull = [0.0] * len(beta), 0.0
        for i in batch:
            if signs[i] * (dot(beta, rows[i]) + bias) < 1:
                factor = weights[i] * signs[i] / len(batch)
                u = [a + factor * x for a, x in zip(u, rows[i], strict=True)]
                pull += factor
        directions.append(
            math.sqrt(sum((lambda_ * b - a) ** 2 for a, b in zip(u, beta, strict=True)))
        )
        theta = [a + b for a, b in zip(theta, u, strict=True)]
        if delay == "auto":
            squares.append(dot(u, u))
            tau = max(tau, sum(squares) / len(squares) / (lambda_ * heaviest))
        beta = [a / (lambda_ * (t + tau)) for a in theta]
        if intercept == "free":
            bias += pull / (heaviest * math.sqrt(t))
        iterates.append([*beta[:-1], bias if intercept == "free" else beta[-1]])
    return iterates, max(directions)


def pegasos_by_steps(rows, signs, batches, lambda_):
    """The same iterates for unit weights and no delay, as literal steps β - (λβ + v)/(λt)."""
    beta = [0.0] * len(rows[0])
    iterates = [beta]
    for t, batch in enumerate(batches, start=1):
        direction = [lambda_ * b for b in beta]
        for i in batch:
            if signs[i] * dot(beta, rows[i]) < 1:
                direction = [
                    d - signs[i] * x / len(batch) for d, x in zip(direction, rows[i], strict=True)
                ]
        beta = [b - d / (lambda_ * t) for b, d in zip(beta, direction, strict=True)]
        iterates.append(beta)
    return iterates


def mean(vectors):
    return [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def hinge_objective(rows, signs, weights, beta, lambda_):
    """λ/2 ‖β‖² + Σ w max(0, 1 - y⟨β, x⟩) / Σ w."""
    loss = sum(
        w * max(0.0, 1 - y * dot(beta, row)) for row, y, w in zip(rows, signs, weights, strict=True)
    )
    return lambda_ / 2 * dot(beta, beta) + loss / sum(weights)


def subgradient_steps(rows, signs, weights, lambda_, lengths, radius):
    """All iterates of projected subgradient descent."""
    beta = [0.0] * len(rows[0])
    iterates = [beta]
    for eta in lengths:
        v = [lambda_ * b for b in beta]
        for row, y, w in zip(rows, signs, weights, strict=True):
            if 1 - y * dot(beta, row) > 0:
                v = [a - w * y * x / sum(weights) for a, x in zip(v, row, strict=True)]
        beta = [b - eta * a for b, a in zip(beta, v, strict=True)]
        norm = math.sqrt(dot(beta, beta))
        if norm > radius:
            beta = [b * radius / norm for b in beta]
        iterates.append(beta)
    return iterates


def perceptron(rows, signs, max_iter, order=None):
    """Weights, mistakes, passes and whether the last pass was free of mistakes."""
    beta, mistakes = [0.0] * len(rows[0]), 0
    for epoch in range(1, max_iter + 1):
        before = mistakes
        for i in order if order is not None else range(len(rows)):
            if signs[i] * dot(beta, rows[i]) <= 0:
                beta = [b + signs[i] * x for b, x in zip(beta, rows[i], strict=True)]
                mistakes += 1
        if mistakes == before:
            return beta, mistakes, epoch, True
    return beta, mistakes, max_iter, False
