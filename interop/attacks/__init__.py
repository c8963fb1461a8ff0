"""Attacks on a running refdesk: what a hostile client, server or file may try, and what must hold meanwhile."""
