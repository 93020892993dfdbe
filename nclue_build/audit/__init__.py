"""The audit: samples, responses, agreement, the queue and decisions; pages for people to read come elsewhere."""
