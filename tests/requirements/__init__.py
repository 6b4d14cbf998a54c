"""What streamops has to be able to do, requirement by requirement, on real servers.

A: an order event bus. B: a delay queue. C: a delay-queue service with HTTP callbacks. D: a task queue with
payloads beside the stream. E: a job queue for a web application. Each test is named after one requirement and
says it in a sentence. How fast all of that is, ``make bench`` measures; these tests prove that it is so.
"""
