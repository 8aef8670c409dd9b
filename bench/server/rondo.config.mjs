// The config of the measured server: a tool that runs there.
import { tool } from "rondo";

const add = tool("add", "Adds two numbers.", { a: Number, b: Number }, ({ a, b }) => a + b);

// Only to requests that name it: the others have no tools, as those of the floor.
export default {
  tools: [add],
  offerTools: "named",
  limits: { requestsPerOwner: 20_000, connections: 20_000 },
};
