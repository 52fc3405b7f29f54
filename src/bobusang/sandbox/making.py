"""Makes a product out of its seed: the same seed, the same product, in every process."""

from __future__ import annotations

from bobusang.sandbox.chance import Chance, drawn, seeded
from bobusang.sandbox.product import Option, Product, Sheet
from bobusang.sandbox.words import (
    COLOURS,
    FIBRES,
    GENDERS,
    KINDS,
    LINES,
    ORIGINS,
    SEASONS,
    SELLER_TITLES,
    SELLERS,
    SIZES,
    TRAPS,
    Brand,
)

LETTERS = "ABCDEFGHJKLMNPRSTUVWXYZ"
WITHOUT_MODEL = 0.06
TRAPPED = 0.12
TWINS = 0.08
"""Share of products that have the model number of the one before: another colour of the same."""
WITHOUT_PATH = 0.05
SINGLES = 0.5
"""Share of the goods of one size that are sold without any choice."""
SELLER_SALT, SHEET_SALT = 77, 78


def seller_of(seed: int) -> str:
    """Who sells it at MustIt; the first sellers have more than the last."""
    roll = drawn(seed, SELLER_SALT) % 1000 / 1000
    return SELLERS[int(roll * roll * len(SELLERS))]


def model_of(world: int, brand: Brand, index: int) -> str:
    """The brand's own number, the same at every mall."""
    chance = Chance(seeded(world, "model", brand.en, index))
    if index and chance.hit(TWINS):
        chance = Chance(seeded(world, "model", brand.en, index - 1))
        chance.number()
    return "".join(_sign(chance, sign) for sign in brand.model)


def _sign(chance: Chance, sign: str) -> str:
    match sign:
        case "A":
            return chance.pick(LETTERS)
        case "9":
            return str(chance.below(10))
    return sign


def make(world: int, mall: str, brand: Brand, index: int, no: int, seed: int) -> Product:
    """The product of a mall: what it is comes from brand and index alone, so two malls sell the same goods."""
    goods = Chance(seeded(world, "goods", brand.en, index))
    kind, colour, gender = goods.pick(KINDS), goods.pick(COLOURS), goods.pick("MMFFU")
    line, season = goods.pick(LINES), goods.pick(SEASONS)
    model = "" if goods.hit(WITHOUT_MODEL) else model_of(world, brand, index)
    list_price = max(19_000, brand.level * goods.between(600, 1900) // 1000 * 1000)
    sizes = _sizes(goods, kind.sizes)
    chance = Chance(seed)
    name = f"{GENDERS[gender]} {brand.ko} {line} {kind.ko}"
    options = _options(chance, mall, no, sizes, colour)
    seller = seller_of(seed)
    return Product(
        no=no,
        seed=seed,
        brand=brand,
        kind=kind,
        name=name,
        model=model,
        title=_title(chance, mall, name, model, colour[1], seller),
        more=f"({gender} {brand.en[:2]} {kind.en} {colour[0].upper()})",
        gender=gender,
        season=season,
        options=options,
        single=len(options) == 1 and kind.sizes == "one" and chance.hit(SINGLES),
        base_price=list_price * chance.between(45, 90) // 100 // 100 * 100,
        list_price=list_price,
        shipping_fee=chance.pick((0, 0, 3000, 4000)),
        colour=colour,
        origin=chance.pick(ORIGINS),
        pictures=chance.between(2, 9),
        has_path=not chance.hit(WITHOUT_PATH),
        seller=seller,
    )


def sheet(product: Product) -> Sheet:
    """What only its own page says of it."""
    chance = Chance(drawn(product.seed, SHEET_SALT))
    kind = product.kind
    sizes = dict.fromkeys((option.size, option.real) for option in product.options)
    return Sheet(
        tuple((part, _mixture(chance)) for part in kind.materials),
        tuple((tag, real, _measured(chance, kind.measures, step)) for step, (tag, real) in enumerate(sizes)),
    )


def _sizes(chance: Chance, kind: str) -> tuple[tuple[str, str], ...]:
    every = SIZES[kind]
    count = min(len(every), chance.between(2, 7))
    first = chance.below(len(every) - count + 1)
    return every[first : first + count]


def _options(
    chance: Chance, mall: str, no: int, sizes: tuple[tuple[str, str], ...], colour: tuple[str, str]
) -> tuple[Option, ...]:
    colours = [colour[0]]
    if chance.hit(0.2):
        colours.append(next(name for name, _ in COLOURS if name != colour[0]))
    if mall == "mustit" and chance.hit(0.7):
        colours = [""]  # an empty colour is normal there
    first = (4_000_000_000 if mall == "mustit" else 2_000_000) + no % 100_000_000 * 20
    pairs = [(color, tag, real) for color in colours for tag, real in sizes]
    return tuple(Option(str(first + place), *pair) for place, pair in enumerate(pairs))


def _title(chance: Chance, mall: str, name: str, model: str, colour: str, seller: str) -> str:
    if mall == "mustit":  # there the parenthesis holds the colour, and the model number ends the name
        return f"{SELLER_TITLES.get(seller, '')} {name}({colour}) {model}".strip()
    trap = f" ({chance.pick(TRAPS)})" if chance.hit(TRAPPED) else ""
    return f"{name}{trap} ({model})" if model else f"{name}{trap}"


def _mixture(chance: Chance) -> str:
    main, share = chance.pick(FIBRES), chance.pick((100, 100, 95, 80, 65))
    if share == 100:
        return f"{main}(100%)"
    other = chance.pick([fibre for fibre in FIBRES if fibre != main])
    return f"{main}({share}%), {other}({100 - share}%)"


def _measured(chance: Chance, labels: tuple[str, ...], step: int) -> tuple[tuple[str, str], ...]:
    def value(label: str) -> str:
        if label == "무게":
            return f"{chance.between(18, 60) * 10}g 전후"
        return f"{chance.between(40, 110) / 2 + step * 1.5:g}cm 전후"

    return tuple((label, value(label)) for label in labels)
