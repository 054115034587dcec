// Makes the replica set of mongodb.yaml; run again, it changes nothing.
try {
  rs.status();
} catch (error) {
  if (error.codeName !== "NotYetInitialized") throw error;
  rs.initiate({
    _id: "docker",
    members: [
      { _id: 0, host: "127.0.0.1:27117" },
      { _id: 1, host: "127.0.0.1:27118" },
      { _id: 2, host: "127.0.0.1:27119" },
    ],
  });
}
