"""Whose response is it: the rules one by one, then all of them at once."""

from hypothesis import given, strategies as st

from custom_components.aiden_duplex.foreground.turn_state import RETIRED, TurnState


def _sent(*requests: str) -> TurnState:
    state = TurnState()
    for request in requests:
        state.submit(request)
    assert state.take() == requests[0]
    return state


def test_one_request_is_out_at_a_time() -> None:
    """The next one goes when the first has ended."""
    state = _sent("a", "b")
    assert state.take() is None
    assert state.on_started("r1", "a") == "a"
    assert state.take() is None
    assert state.on_done("r1") == "a"
    assert state.take() == "b"
    assert state.take() is None


def test_a_start_is_news_once() -> None:
    """A repeated start is none."""
    state = _sent("a")
    assert state.on_started("r1", None) == "a"
    assert state.on_started("r1", None) is None
    assert state.owns("r1")


def test_a_start_that_names_another_request_is_not_ours() -> None:
    """What an abandoned request brings belongs to nobody, and blocks until its end."""
    state = _sent("b")
    assert state.on_started("r1", "a") is None
    assert not state.owns("r1")
    assert state.on_started("r2", "b") == "b"
    assert state.owns("r2")
    assert state.on_done("r1") is None
    assert state.on_done("r2") == "b"


def test_a_refusal_puts_the_request_back_in_front() -> None:
    """It waits for the end of the response that was in its way."""
    state = _sent("a", "b")
    assert state.on_refused("a") == "a"
    assert state.take() is None
    assert state.on_done("other") is None
    assert state.take() == "a"


def test_a_refusal_without_a_name_hits_the_request_that_is_out() -> None:
    """The provider does not say which."""
    state = _sent("a")
    assert state.on_refused(None) == "a"
    assert state.on_refused(None) is None


def test_the_end_of_a_response_that_was_over_for_us_lets_the_request_go() -> None:
    """The provider reports a cancellation, refuses the next request, then reports the end."""
    state = _sent("a")
    state.on_started("r1", "a")
    assert state.on_done("r1") == "a"
    state.submit("b")
    assert state.take() == "b"
    assert state.on_refused("b") == "b"
    assert state.on_done("r1") is None
    assert state.take() == "b"


def test_a_refusal_of_another_request_changes_nothing() -> None:
    """It names one that is over."""
    state = _sent("b")
    assert state.on_refused("a") is None
    assert state.request == "b"


def test_a_guessed_start_is_taken_back_by_a_refusal() -> None:
    """The provider's own response began first; its start did not name a request."""
    state = _sent("a")
    assert state.on_started("foreign", None) == "a"
    assert state.on_refused("a") == "a"
    assert not state.owns("foreign")
    assert state.take() is None
    assert state.on_done("foreign") is None
    assert state.take() == "a"


def test_a_certain_start_is_not_taken_back() -> None:
    """A refusal without a name after a start that names ours is about something else."""
    state = _sent("a")
    assert state.on_started("r1", "a") == "a"
    assert state.on_refused(None) is None
    assert state.on_done("r1") == "a"


def test_a_refusal_without_a_name_does_not_take_back_an_answer() -> None:
    """Its start named nothing, but it speaks already: asking again would answer twice."""
    state = _sent("a")
    assert state.on_started("r1", None) == "a"
    assert state.owns("r1")
    assert state.on_refused(None) is None
    assert state.owns("r1")
    assert state.on_done("r1") == "a"
    assert state.take() is None


def test_a_start_shows_that_a_refusal_was_about_another_request() -> None:
    """A refusal that named nothing came late, then the request it seemed to hit begins."""
    state = _sent("a", "b")
    assert state.on_refused(None) == "a"
    assert state.is_blocked
    assert state.on_started("r1", "a") == "a"
    assert state.owns("r1")
    assert state.on_done("r1") == "a"
    assert state.take() == "b"


def test_silence_after_a_refusal_lets_the_request_go() -> None:
    """Nothing is heard of what was in the way; if it does speak, it is still not ours."""
    state = _sent("a")
    assert state.on_started("foreign", None) == "a"
    assert state.on_refused("a") == "a"
    assert state.is_blocked
    assert state.take() is None
    state.on_silence()
    assert state.take() == "a"
    assert not state.owns("foreign")
    assert state.is_foreign("foreign")
    assert state.on_started("r1", "a") == "a"
    assert state.on_done("foreign") is None
    assert state.on_done("r1") == "a"


def test_ended_responses_are_remembered() -> None:
    """A duplicate end, and late output, of the last 64 responses are nobody's."""
    state = TurnState()
    for number in range(RETIRED + 1):
        state.submit(f"q{number}")
        state.take()
        state.on_started(f"r{number}", None)
        assert state.on_done(f"r{number}") == f"q{number}"
    state.submit("new")
    state.take()
    for number in range(1, RETIRED + 1):
        assert not state.owns(f"r{number}")
        assert state.on_done(f"r{number}") is None
        assert state.on_started(f"r{number}", None) is None
    assert state.request == "new"
    assert state.owns("r_new")


def test_a_server_without_starts_begins_with_its_output() -> None:
    """The first output is the start."""
    state = _sent("a")
    assert state.owns("r1")
    assert state.started
    assert not state.owns("r2")
    assert state.on_done("r1") == "a"


def test_a_server_without_ids() -> None:
    """Everything without an id belongs to what is out."""
    state = _sent("a")
    assert state.on_started(None, None) == "a"
    assert state.owns(None)
    assert state.on_done(None) == "a"
    assert not state.owns(None)
    assert state.on_done(None) is None


def test_an_end_without_a_start_is_an_end() -> None:
    """Some servers only report the end."""
    state = _sent("a")
    assert state.on_done("r1") == "a"


def test_output_without_an_id_is_not_a_foreign_responses_for_ours() -> None:
    """While another response is active and ours has not begun, it is not ours."""
    state = TurnState()
    state.on_started("foreign", None)
    state.submit("a")
    assert state.take() is None
    assert not state.owns(None)


def test_giving_up_keeps_the_request_until_its_end() -> None:
    """Waiting requests go at once, the one that is out with its acknowledgement."""
    state = _sent("a", "b")
    state.on_started("r1", "a")
    assert state.cancel()
    assert state.cancelling
    assert state.take() is None
    assert state.on_done("r1") == "a"
    assert state.take() is None
    assert state.request is None


def test_giving_up_nothing() -> None:
    """Nothing is out: nothing must be cancelled."""
    state = TurnState()
    state.submit("a")
    assert not state.cancel()
    assert state.take() is None


def test_nothing_to_cancel_ends_what_was_given_up() -> None:
    """The provider says that nothing is active."""
    state = _sent("a")
    state.cancel()
    assert state.on_nothing_to_cancel() == "a"
    assert state.on_nothing_to_cancel() is None


def test_nothing_to_cancel_is_not_about_a_new_request() -> None:
    """A late answer to an old cancellation."""
    state = _sent("b")
    assert state.on_nothing_to_cancel() is None
    assert state.request == "b"


def test_a_refused_request_that_was_given_up_is_dropped() -> None:
    """It is not sent again."""
    state = _sent("a")
    state.cancel()
    assert state.on_refused("a") == "a"
    assert state.on_done("other") is None
    assert state.take() is None


def test_an_error_ends_a_request_that_has_not_begun() -> None:
    """Named or not; once it runs, only its end ends it."""
    state = _sent("a")
    assert state.on_failed("z") is None
    assert state.on_failed(None) == "a"
    state = _sent("a")
    state.on_started("r1", "a")
    assert state.on_failed("a") is None
    assert state.on_failed(None) is None


_IDS = st.sampled_from([None, "r1", "r2", "r3"])
_NAMES = st.sampled_from([None, "q0", "q1", "q2"])
_EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("submit")),
        st.tuples(st.just("take")),
        st.tuples(st.just("started"), _IDS, _NAMES),
        st.tuples(st.just("owns"), _IDS),
        st.tuples(st.just("done"), _IDS),
        st.tuples(st.just("refused"), _NAMES),
        st.tuples(st.just("failed"), _NAMES),
        st.tuples(st.just("nothing")),
        st.tuples(st.just("cancel")),
        st.tuples(st.just("silence")),
    ),
    max_size=40,
)


@given(_EVENTS)
def test_whatever_the_provider_says_a_request_ends_once(
    events: list[tuple[str, ...]],
) -> None:
    """At most one request is out; none ends twice, none ends unsent, none is sent twice at once."""
    state = TurnState()
    count = 0
    out: str | None = None
    refused: str | None = None
    ended: set[str] = set()
    for name, *values in events:
        over: str | None = None
        match name:
            case "submit":
                state.submit(f"q{count}")
                count += 1
            case "take":
                taken = state.take()
                if taken is not None:
                    assert out is None
                    assert taken not in ended
                    out = taken
            case "started":
                begun = state.on_started(values[0], values[1])
                # A refused request may turn out to run.
                out = refused if out is None and begun == refused else out
                assert begun in (None, out)
            case "owns":
                assert not state.owns(values[0]) or out is not None
            case "done":
                over = state.on_done(values[0])
            case "refused":
                hit = state.on_refused(values[0])
                if hit is not None:
                    assert hit == out
                    out, refused = None, hit
            case "silence":
                state.on_silence()
            case "failed":
                over = state.on_failed(values[0])
            case "nothing":
                over = state.on_nothing_to_cancel()
            case "cancel":
                assert state.cancel() == (out is not None)
        if over is not None:
            assert over == out
            assert over not in ended
            ended.add(over)
            out = None
        assert state.request == out
