"""Having another program read documents: finding it, running it so that it can be stopped, keeping what it made."""
