"""The screens. Each is given the moment that it shows, and calls the app for anything beyond itself."""
