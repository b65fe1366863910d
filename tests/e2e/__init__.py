"""Through a real Home Assistant process, real sockets and a pty."""
