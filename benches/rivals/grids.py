"""The grids of the rivals. The best setting is chosen after the fact, which favours the rivals."""

SMALL = 25_000

VW = (
    *(f"-l {rate}" for rate in (0.1, 0.5, 2, 8)),
    *(f"-l {rate} --power_t 0" for rate in (0.05, 0.5, 5)),
    "--ftrl",
    "--coin",
    "--pistol",
    "--OjaNewton",
    "--nn 10 -l 0.5",
)
# All products of two features, where VW can afford them.
VW_PAIRS = ("-q :: -l 0.1", "-q :: -l 0.5", "-q :: -l 2", "-q :: -l 0.5 --power_t 0")

VW_CBIFY = (
    "--epsilon 0.05",
    *(
        f"--cb_force_legacy --cb_type dm --epsilon {epsilon} -l {rate}"
        for epsilon in (0.005, 0.02, 0.05)
        for rate in (0.05, 0.5, 4)
    ),
    *(f"--cb_explore_adf --squarecb --cb_type mtr --gamma_scale {scale} -l {rate}" for scale in (10, 100) for rate in (0.5, 4)),
    *(f"--cb_explore_adf --regcbopt --mellowness {mellowness} --cb_type mtr" for mellowness in (0.01, 0.1)),
    *(f"--cb_explore_adf --regcb --mellowness {mellowness} --cb_type mtr" for mellowness in (0.01, 0.1)),
    *(f"--cb_explore_adf --first {rounds} --cb_type mtr" for rounds in (100, 1000)),
    *(f"--bag {bags} -l {rate}" for bags in (2, 5) for rate in (0.05, 0.5)),
    *(f"--cover {policies} -l {rate}" for policies in (2, 4) for rate in (0.05, 0.5)),
    *(f"--cb_force_legacy --cb_type dm --epsilon {epsilon} -l {rate} --nn 10" for epsilon in (0.005, 0.02) for rate in (0.05, 0.5)),
)
VW_CBIFY_PAIRS = tuple(
    f"--cb_force_legacy --cb_type dm --epsilon {epsilon} -l {rate} -q ::" for epsilon in (0.005, 0.02) for rate in (0.05, 0.5, 4)
)


OFFERED = {"vw": len(VW + VW_PAIRS), "vw-cbify": len(VW_CBIFY + VW_CBIFY_PAIRS), "river": 10, "sklearn": 6}
"""The settings of a whole grid, for those of which a part is left out."""


def settings(rival, stream):
    """The grid of a rival on a stream: settings that take hours are left out, and the tables say so."""
    rows, features = stream.rows[0].shape
    large = rows > 120_000
    if rival == "vw":
        return VW + (VW_PAIRS if features <= 64 else ())
    if rival == "vw-cbify":
        return VW_CBIFY + (VW_CBIFY_PAIRS if features <= 64 else ())
    if rival == "river":
        # The tables name contestants that did not end within an hour.
        forests = ("adaptive-random-forest", "mondrian-forest")
        linear = ("sgd 0.1 raw", "sgd 0.02 raw", "sgd 0.1 scaled", "sgd 0.02 scaled")
        more = ("sgd 0.005 scaled", "adam 0.01 raw", "adam 0.01 scaled", "hoeffding-tree")
        if large:
            return ("sgd 0.1 raw", "sgd 0.02 scaled") + forests
        if features > 1024:
            return ("sgd 0.1 raw", "sgd 1 raw", "sgd 10 raw", "adam 0.01 raw") + forests
        return linear + (more if features <= 256 and rows <= 120_000 else ("hoeffding-tree",)) + forests
    if rival == "sklearn":
        block = 1 if rows <= 3_000 else 16 if rows <= SMALL else 64
        sgd = tuple(f"sgd {rate} {block}" for rate in (("optimal", 0.01) if large else ("optimal", 0.1, 0.01, 0.001)))
        return sgd + tuple(f"mlp {rate} 16" for rate in (0.001, 0.005) if features <= 1024)
    raise KeyError(rival)
