"""Which response of a session is whose. Pure: events in, decisions out, no time.

One response may write to the conversation at a time, and the provider may begin one by
itself. So requests are sent one by one; a request that is refused because of another
response is sent again after that response's end, or when nothing is heard of it any more;
and what belongs to a response that is over, or not ours, is nobody's.
"""

from collections import deque

RETIRED = 64
"""Response ids remembered after their end; late events name them."""


class TurnState:
    """The requests and responses of one session."""

    def __init__(self) -> None:
        """Start idle."""
        self._waiting: deque[str] = deque()
        self._retired: deque[str] = deque(maxlen=RETIRED)
        self._request: str | None = None
        self._refused: str | None = None
        self._response_id: str | None = None
        self._started = False
        self._certain = False
        self._has_output = False
        self._cancelling = False
        self._foreign: str | None = None
        self._foreign_active = False

    @property
    def request(self) -> str | None:
        """Return the request that was sent and has not ended."""
        return self._request

    @property
    def response_id(self) -> str | None:
        """Return the provider's id of the response to it, once known."""
        return self._response_id

    @property
    def started(self) -> bool:
        """Return whether the provider accepted the request."""
        return self._started

    @property
    def cancelling(self) -> bool:
        """Return whether the request was given up but has not ended."""
        return self._cancelling

    @property
    def is_blocked(self) -> bool:
        """Return whether a refused request waits for the end of another response."""
        return self._foreign_active and self._refused in self._waiting

    def submit(self, request: str) -> None:
        """Queue a request for a response."""
        self._waiting.append(request)

    def drop(self, request: str) -> None:
        """Forget a request that has not been sent."""
        if request in self._waiting:
            self._waiting.remove(request)

    def take(self) -> str | None:
        """Return the request to send now, at most once; None while another is out."""
        if self._request is not None or self._foreign_active or not self._waiting:
            return None
        self._request, self._refused = self._waiting.popleft(), None
        return self._request

    def on_started(self, response_id: str | None, request: str | None) -> str | None:
        """Take the start of a response; return the request it answers, if it is news.

        Without the request's name in the event the first start after our request is
        taken for ours, until a refusal shows that it was not. A start that names a
        refused request shows that the refusal was about another one.
        """
        if self._is_retired(response_id):
            return None
        if request is not None and self.is_blocked and request == self._refused:
            self._waiting.remove(request)
            self._request, self._refused = request, None
            self._foreign, self._foreign_active = None, False
        ours = self._request is not None and request in (None, self._request)
        if ours and not self._started:
            self._begin(response_id, certain=request is not None)
            return self._request
        if not ours or response_id != self._response_id:
            self._foreign, self._foreign_active = response_id, True
        return None

    def owns(self, response_id: str | None) -> bool:
        """Return whether output with this id belongs to the request that is out.

        A server that reports no start begins with its first output.
        """
        if self._request is None or self._is_retired(response_id):
            return False
        if response_id is None and self._foreign_active:
            return self._started
        if response_id is not None and response_id == self._foreign:
            return False
        if not self._started:
            self._begin(response_id, certain=False)
        if self._response_id is None:
            self._response_id = response_id
        is_ours = response_id in (None, self._response_id)
        self._has_output = self._has_output or is_ours
        return is_ours

    def is_foreign(self, response_id: str | None) -> bool:
        """Return whether this is the response that nobody here asked for."""
        if response_id is None:
            return self._foreign_active and self._foreign is None
        return response_id == self._foreign

    def on_done(self, response_id: str | None) -> str | None:
        """Take the end of a response; return the request that ended with it."""
        if self._is_retired(response_id):
            # It may be what stood in the way: some report a cancellation before the end.
            if self._foreign is None:
                self._foreign_active = False
            return None
        if not self.owns(response_id):
            self._retire(response_id)
            self._foreign, self._foreign_active = None, False
            return None
        return self._end(response_id)

    def on_refused(self, request: str | None) -> str | None:
        """Take a refusal; return the request it hit, None if it hit none of ours.

        The request goes to the head of the queue and waits for the end of the response
        that was in its way; a request that was given up meanwhile is dropped. A refusal
        that names nothing does not hit a request that is being answered: it is late.
        """
        if self._request is None or request not in (None, self._request):
            return None
        if self._started and (self._certain or (request is None and self._has_output)):
            return None
        refused = self._request
        if not self._cancelling:
            self._waiting.appendleft(refused)
            self._refused = refused
        if self._started:
            # That start was not ours after all.
            self._foreign = self._response_id
        self._foreign_active = True
        self._clear()
        return refused

    def on_silence(self) -> None:
        """Take that nothing was heard for long of the response that is in the way."""
        self._foreign_active = False

    def on_failed(self, request: str | None) -> str | None:
        """Take an error about a request that will get no response; return the request.

        An error that names nothing counts only while no response has started.
        """
        if self._request is None or self._started:
            return None
        if request not in (None, self._request):
            return None
        return self._end(None)

    def on_nothing_to_cancel(self) -> str | None:
        """Take that a cancellation found nothing; return the request that is over by that."""
        return self._end(self._response_id) if self._cancelling else None

    def cancel(self) -> bool:
        """Give everything up; return whether a response must be cancelled at the provider."""
        self._waiting.clear()
        self._cancelling = self._request is not None
        return self._cancelling

    def _begin(self, response_id: str | None, *, certain: bool) -> None:
        self._started = True
        self._certain = certain
        self._response_id = response_id

    def _end(self, response_id: str | None) -> str | None:
        ended = self._request
        self._retire(response_id)
        self._retire(self._response_id)
        self._clear()
        return ended

    def _clear(self) -> None:
        self._request = self._response_id = None
        self._started = self._certain = self._cancelling = self._has_output = False

    def _is_retired(self, response_id: str | None) -> bool:
        return response_id is not None and response_id in self._retired

    def _retire(self, response_id: str | None) -> None:
        if response_id is not None and response_id not in self._retired:
            self._retired.append(response_id)
