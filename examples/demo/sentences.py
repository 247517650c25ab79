"""The sentences of the four demo tasks: one function a task returns (label, text) or (label, text, text_pair).

A label is not in the words but in how they stand together: the same words, or words about as frequent,
occur under every label. A plain share of easy rows is left in each task, as in real data. `pick` draws one
element of a sequence; it is the only source of chance, so a seed fixes every sentence.
"""

GOOD = ("good", "great", "lovely", "excellent", "pleasant", "wonderful")
BAD = ("bad", "terrible", "awful", "poor", "horrible", "dreadful")
ASPECTS = ("the room", "the food", "the service", "the view", "the guide", "the music", "the breakfast",
           "the garden", "the hotel", "the dinner", "the boat", "the museum", "our trip", "this trip",
           "the walk", "the concert", "the evening", "the train")
PLAIN = ("{a} was {w}", "{a} was really {w}", "I found {a} {w}", "everything about {a} was {w}")
NEGATED = ("{a} was not {w}", "{a} was never {w}", "nobody found {a} {w}", "nothing about {a} was {w}")
CONTRAST = ("{minor}, but {main}", "although {minor}, {main}", "{minor}, and yet {main}")
TAILS = ("", " this time", " in the end", " as usual", " on Sunday", " for all of us", " last summer")


def mood(pick):
    """Is the writer pleased? Negation turns a word around; of two clauses the second decides."""

    def clause(label, negated):
        words = GOOD if (label == "good") != negated else BAD
        return pick(NEGATED if negated else PLAIN).format(a=pick(ASPECTS), w=pick(words))

    label = pick(("good", "bad"))
    text = clause(label, negated=pick((True, False, False, False)))
    if pick((True, True, True, False, False, False, False, False, False, False)):
        other = "bad" if label == "good" else "good"
        text = pick(CONTRAST).format(main=text, minor=clause(other, negated=False))
    else:
        text += pick(TAILS)
    return label, sentence(text)


TOPICS = {
    "billing": ("invoice", "payment", "refund", "bill", "receipt"),
    "delivery": ("parcel", "delivery", "courier", "package", "shipment"),
    "account": ("password", "login", "account", "profile", "username"),
    "device": ("screen", "battery", "camera", "keyboard", "charger"),
}
ONE_TOPIC = ("I need help with {art} {y}", "could you look at {art} {y}?", "{art} {y} is still not right")
TWO_TOPICS = ("{art} {x} is fine, but {art} {y} is not", "{art} {y} is not fine, but {art} {x} is",
              "forget {art} {x}, it is {art} {y} that worries me", "it is {art} {y} that worries me, forget {art} {x}",
              "thank you for {art} {x}, now look at {art} {y}", "look at {art} {y} now, thank you for {art} {x}")
GREETINGS = ("", "", "", "hello, ", 'subject "help": ')


def topic(pick):
    """Which desk is this message for? Most name a second matter that is settled or only mentioned."""
    label = pick(tuple(TOPICS))
    art = pick(("my", "the", "our"))
    noun = pick(TOPICS[label])
    if pick((False, False, True)):
        text = pick(ONE_TOPIC).format(art=art, y=noun)
    else:
        other = pick(TOPICS[pick([name for name in TOPICS if name != label])])
        text = pick(TWO_TOPICS).format(art=art, x=other, y=noun)
    return label, sentence(pick(GREETINGS) + text)


SELVES = ("the bakery", "our bakery")
PARTNERS = ("the miller", "the landlord", "the farmer", "the school", "the hotel", "the printer", "the plumber",
            "the insurer", "the town", "the dairy", "the cafe", "the bank")
VERBS = ("paid", "repaid", "refunded", "owed", "lent")
AMOUNTS = ("forty pounds", "sixty pounds", "ninety pounds", "the full sum", "half the sum")
REASONS = ("", "", " for flour", " for the oven", " for a cake", " for rent", " for repairs", " by mistake")
DAYS = ("on Monday ", "on Tuesday ", "on Wednesday ", "on Thursday ", "on Friday ")


def order(pick):
    """A bakery's books: does money go out or come in? Who stands before the verb and who after decides."""
    label, passive = pick(("out", "in")), pick((True, False, False, False))
    own, partner = pick(SELVES), pick(PARTNERS)
    first, second = (own, partner) if (label == "out") != passive else (partner, own)
    verb, amount, reason = pick(VERBS), pick(AMOUNTS), pick(REASONS)
    if passive:
        text = f"{first} was {verb} {amount} by {second}{reason}"
    else:
        text = f"{first} {verb} {second} {amount}{reason}"
    return label, sentence(pick(("", "", pick(DAYS))) + text)


STATES = (("open", "closed", ("door", "window", "gate", "shop", "drawer")),
          ("on", "off", ("lamp", "heater", "radio", "oven", "computer")),
          ("full", "empty", ("bottle", "bucket", "car park", "fridge", "bus")),
          ("clean", "dirty", ("floor", "shirt", "kitchen", "towel", "mirror")),
          ("warm", "cold", ("soup", "water", "tea", "bedroom", "bread")),
          ("cheap", "expensive", ("ticket", "meal", "phone", "jacket", "taxi")))
NOTES = ("{when} the {o} was {s}", "the {o} was {s} {when}", "we found the {o} {s} {when}")
WHEN = ("this morning", "at noon", "after lunch", "last night", "on Monday", "before work")
REPLIES = ("the {o} was {s}", "I saw the {o}, it was {s}", "Tom found the {o} {s}", "my notes say that the {o} was {s}")


def pair(pick):
    """Two notes about one thing: do they say the same of it, or does one contradict the other?"""
    label = pick(("agree", "conflict"))
    high, low, things = pick(STATES)
    thing = pick(things)
    # The first word of a pair of states is the more frequent one in notes that others agree with.
    first = pick((high, high, low) if label == "agree" else (high, low, low))
    second = first if label == "agree" else low if first == high else high
    note = pick(NOTES).format(o=thing, s=first, when=pick(WHEN))
    return label, sentence(note), sentence(pick(REPLIES).format(o=thing, s=second))


def sentence(text):
    return text[0].upper() + text[1:] + ("" if text[-1] == "?" else ".")
