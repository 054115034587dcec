"""A local server of MongoDB Atlas' Administration API, in front of the lab's real replica set.

    process ──▶ server ──▶ desk ──▶ book         what is said: logins, requests, answers
                            └─▶ work ▶ members   what is done: real processes, one job at a time

What it says is brownout's, from the API's published description; what it does is done to real
`mongod` processes. It is asynchronous as Atlas is: a request is answered before its work begins.
"""
