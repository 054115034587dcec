"""What the labs of databases are made of: ports, networks, proxies, certificates, processes.

`engine` is what a database's own lab has to be. `settings` are those of labs whose nodes can be cut
off or slowed. `infra/lab` brings labs up and down.
"""
