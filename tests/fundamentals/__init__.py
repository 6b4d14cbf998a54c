"""The runtime's tour: what an application can do, one idea a file, and every sentence of it runs.

Read them in their order; each begins with a paragraph of what it shows. All of it is written with what users have
too: ``streamops.runtime`` and ``streamops.testing``.
"""
