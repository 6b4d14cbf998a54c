"""Tests of streamops, room by room."""
