#!/usr/bin/env python3
"""fit_normal_tail.py: the polynomial of kernels/cuda/parts/gelu.h.

Phi(-a) = exp(-a^2 / 2) r(a) for a >= 0, with r(a) a polynomial without constant term in t = 1 / (1 + p a): r falls
like 1 / a. Least squares of the relative error, reweighted until the largest error is as small as it gets (Lawson),
for the best p. Prints p, the coefficients from t^6 down to t, as floats, and their largest relative error. Needs numpy.
"""
import math

import numpy

DEGREE = 6
LARGEST = 14  # beyond it exp(-a^2 / 2) is below the smallest f32


def fit(a, r, p):
    powers = numpy.vander(1 / (1 + p * a), DEGREE + 1)[:, :-1]
    weight = numpy.ones_like(r)
    for _ in range(100):
        root = numpy.sqrt(weight)
        coefficients = numpy.linalg.lstsq(powers * (root / r)[:, None], root, rcond=None)[0]
        error = numpy.abs(powers @ coefficients / r - 1)
        weight = weight * error
        weight /= weight.mean()
    coefficients = numpy.float32(coefficients)
    return numpy.abs(powers @ coefficients.astype(float) / r - 1).max(), coefficients


def main():
    a = numpy.linspace(0, LARGEST, 1401)
    r = numpy.array([0.5 * math.erfc(x / math.sqrt(2)) * math.exp(x * x / 2) for x in a])
    (error, coefficients), p = min(((fit(a, r, p), p) for p in numpy.linspace(0.300, 0.316, 9)), key=lambda best: best[0][0])
    print(f"p = {p:.3f}, relative error {error:.1e}")
    for coefficient in coefficients:
        print(repr(float(coefficient)))


main()
