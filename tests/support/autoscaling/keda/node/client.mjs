// One call of the external scaler; what comes of it, a line of JSON each: {message}, {error: {code, details}}, {end}.
import { readFileSync } from "node:fs";
import grpc from "@grpc/grpc-js";
import loader from "@grpc/proto-loader";

const { address, proto, method, request, tls } = JSON.parse(process.argv[2]);
const tell = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);
const read = (path) => (path ? readFileSync(path) : null);

const definition = loader.loadSync(proto, { keepCase: true, longs: Number, defaults: true });
const { ExternalScaler } = grpc.loadPackageDefinition(definition).externalscaler;
const credentials = tls
  ? grpc.credentials.createSsl(read(tls.ca), read(tls.key), read(tls.certificate))
  : grpc.credentials.createInsecure();
const client = new ExternalScaler(address, credentials);
const fail = ({ code, details }) => tell({ error: { code: grpc.status[code], details } });

if (client[method].responseStream) {
  const stream = client[method](request);
  stream.on("data", (message) => tell({ message }));
  stream.on("error", fail);
  stream.on("end", () => tell({ end: true }));
} else {
  client[method](request, { deadline: Date.now() + 20_000 }, (error, message) =>
    error ? fail(error) : tell({ message }),
  );
}
