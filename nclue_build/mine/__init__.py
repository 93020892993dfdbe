"""Mining: pages -> surface forms -> clusters -> judged conditions -> P0."""
