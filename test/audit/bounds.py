"""What the frequencies of answers on two tables refute. Each bound is wrong with a probability of at most `tail`.

frequencies: two Counters of answers, one for each table, of some draws. An event and a test function are chosen with the
frequencies of one half of the draws (`chosen`) and bounded with those of the other half (`seen`), which are independent of them.
"""

import math

# The orders of Renyi's divergence that may refute a rho. Order 1 is the divergence of Kullback and Leibler.
ORDERS = (1, 1.5, 2, 4, 8)


def tail_of_binomial(successes, trials, p):
    """P[X >= successes] for a binomial X, if successes are more than its mean; otherwise 1, which is never less."""
    if successes <= trials * p:
        return 1.0
    if p <= 0:
        return 0.0
    term = math.exp(math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
                    + successes * math.log(p) + (trials - successes) * math.log1p(-p))
    total, k = 0.0, successes
    while k <= trials and term > total * 1e-15:
        total += term
        term *= (trials - k) / (k + 1) * p / (1 - p)
        k += 1
    return total


def lower_bound(successes, trials, tail):
    """Clopper and Pearson's lower bound of a probability: the largest that would be seen to succeed as often with probability `tail`."""
    low, high = 0.0, successes / trials
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if tail_of_binomial(successes, trials, middle) < tail else (low, middle)
    return low


def upper_bound(successes, trials, tail):
    return 1 - lower_bound(trials - successes, trials, tail)


def likeliest_event(one, other, delta):
    """The set of answers, likely under `one`, that promises the largest epsilon with what its frequencies can tell."""
    n, m = one.total(), other.total()
    answers = sorted(one.keys() | other.keys(), key=lambda answer: (one[answer] + 0.5) / (other[answer] + 0.5), reverse=True)
    best, event, p, q = -math.inf, set(), 0, 0
    for i, answer in enumerate(answers[:-1]):
        p += one[answer]
        q += other[answer]
        if p / n <= delta:
            continue
        # Six standard errors of both, about as in the bounds.
        uncertainty = 6 * math.sqrt(p * (1 - p / n) / (p - delta * n) ** 2 + 1 / (q + 1))
        score = math.log((p / n - delta) / ((q + 1) / m)) - uncertainty
        if score > best:
            best, event = score, set(answers[:i + 1])
    return best, event


def refuted_epsilon(chosen, seen, delta, tail):
    """The tables are not (epsilon, delta)-indistinguishable for any epsilon below this, or 0. It is two bounds."""
    best, event, order = max(((*likeliest_event(chosen[i], chosen[1 - i], delta), i) for i in (0, 1)), key=lambda found: found[0])
    if best == -math.inf:
        return 0.0
    one, other = seen[order], seen[1 - order]
    p = lower_bound(sum(one[answer] for answer in event), one.total(), tail) - delta
    q = upper_bound(sum(other[answer] for answer in event), other.total(), tail)
    return max(0.0, math.log(p / q)) if p > 0 else 0.0


def mean_bound(values, frequencies, side, tail):
    """A lower (side -1) or upper (side 1) bound of a mean: the empirical Bernstein inequality of Maurer and Pontil (2009)."""
    n = frequencies.total()
    mean = sum(frequencies[answer] * values(answer) for answer in frequencies) / n
    variance = sum(frequencies[answer] * (values(answer) - mean) ** 2 for answer in frequencies) / (n - 1)
    log = math.log(2 / tail)
    return mean + side * (math.sqrt(2 * variance * log / n) + 7 * values.width * log / (3 * (n - 1)))


class Power:
    """exp(exponent * f), or f itself for the exponent 0, for a function f of answers within -limit and limit."""

    def __init__(self, ratios, limit, exponent):
        self.ratios, self.exponent = ratios, exponent
        self.width = 2 * limit if exponent == 0 else 2 * math.sinh(exponent * limit)

    def __call__(self, answer):
        ratio = self.ratios.get(answer, 0.0)
        return ratio if self.exponent == 0 else math.exp(self.exponent * ratio)


def divergence(one, other, ratios, limit, order, tail):
    """A lower bound of D_order(one || other) / order, by the variational formula of Donsker and Varadhan, for any order that of Birrell et al.
    (2021): it holds for every function of the answers, and is equal for the logarithm of the ratio of their probabilities."""
    p = mean_bound(Power(ratios, limit, order - 1), one, -1, tail)
    q = mean_bound(Power(ratios, limit, order), other, 1, tail)
    if order == 1:
        return p - math.log(q)
    return math.log(p) / (order - 1) - math.log(q) / order if p > 0 else 0.0


def refuted_rho(chosen, seen, tail):
    """The tables are not rho-close, D_order <= order * rho for all orders above 1, for any rho below this, or 0. It is two bounds."""
    best = (0.0, None)
    for i in (0, 1):
        one, other = chosen[i], chosen[1 - i]
        every = one.keys() | other.keys()
        exact = {a: math.log((one[a] + 0.5) / (other[a] + 0.5) * other.total() / one.total()) for a in every}
        for limit in {min(cap, max(map(abs, exact.values()))) for cap in (0.5, 1, 2, 4)}:
            ratios = {a: max(-limit, min(limit, ratio)) for a, ratio in exact.items()}
            for order in ORDERS:
                best = max(best, (divergence(one, other, ratios, limit, order, tail), (i, ratios, limit, order)), key=lambda found: found[0])
    if best[1] is None:
        return 0.0
    i, ratios, limit, order = best[1]
    return max(0.0, divergence(seen[i], seen[1 - i], ratios, limit, order, tail))
