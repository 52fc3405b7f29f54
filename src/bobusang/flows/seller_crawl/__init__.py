"""The seller crawl of design [B]: sellers on their own cadence, started once per key, healed when a mall is ill."""
