"""What a consumer of a group asks of the server: read, take over, acknowledge, settle, renew."""
