"""The screen: pages for people, mounted beside the API. They call what the API calls, and never query tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.entry.web import (
    alerts,
    analytics,
    audit,
    dead_letter,
    dead_letters,
    doors,
    first_account,
    held,
    held_mapping,
    held_reviews,
    held_sends,
    identities,
    job_detail,
    jobs,
    listing_detail,
    listings,
    overview,
    pictures,
    product,
    product_looks,
    products,
    quality,
    run_detail,
    runs,
    schedule_form,
    schedules,
    search,
    seller_form,
    sellers,
    settings,
    settings_keys,
    settings_people,
    settings_system,
    sources,
    start,
    supplier_files,
    suppliers,
    tasks,
)
from bobusang.entry.web.site import Site

if TYPE_CHECKING:
    from bobusang.wiring import App

MODULES = (
    doors.pages,
    overview.pages,
    runs.pages,
    run_detail.pages,
    start.pages,
    first_account.pages,
    pictures.pages,
    products.pages,
    product.pages,
    product_looks.pages,
    jobs.pages,
    job_detail.pages,
    tasks.pages,
    dead_letters.pages,
    dead_letter.pages,
    held.pages,
    held_sends.pages,
    held_reviews.pages,
    held_mapping.pages,
    quality.pages,
    listings.pages,
    listing_detail.pages,
    search.pages,
    schedules.pages,
    schedule_form.pages,
    sellers.pages,
    seller_form.pages,
    sources.pages,
    identities.pages,
    suppliers.pages,
    supplier_files.pages,
    alerts.pages,
    analytics.pages,
    audit.pages,
    settings.pages,
    settings_keys.pages,
    settings_people.pages,
    settings_system.pages,
)


def opened(app: App) -> Site:
    """The pages of an application."""
    return Site(app, MODULES)
