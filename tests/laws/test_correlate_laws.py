import pytest
from hypothesis import HealthCheck, given, settings

from headwater.model import log
from tests.laws.correlate_worlds import CorrelateWorld, worlds
from tests.laws.kernel_laws import LAWS


@pytest.fixture(scope="module", autouse=True)
def tiny_chunks():
    """Chunks of one row, so that a log forgets as exactly as the bound is stated."""
    whole, log.CHUNK_ROWS = log.CHUNK_ROWS, 1
    yield
    log.CHUNK_ROWS = whole


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(world=worlds())
def test_correlate_keeps_the_law(law, world: CorrelateWorld):
    law(world)
