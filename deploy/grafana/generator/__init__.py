"""Grafana dashboards of tensord, written with grafana-foundation-sdk.

One module a dashboard, each with a `dashboard()`; `board` has what they share. generate.py beside this folder writes the JSON.
"""
