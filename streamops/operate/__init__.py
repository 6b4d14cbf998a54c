"""Seeing and acting, in order. Law: I/O goes through ``wire``, judgement through the pure rooms; nothing is printed."""
