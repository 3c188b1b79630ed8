import { area, type Shape } from "./shapes";
import data from "./data.json";

enum Colour { Red, Green = 5, Blue }

const shapes: Shape[] = data.shapes as Shape[];

export async function* report(): AsyncGenerator<string> {
  for (const shape of shapes) {
    yield `${shape.kind ?? "none"}: ${area(shape).toFixed(2)} ${Colour[shape.colour] ?? "?"}`;
  }
}

(async () => {
  for await (const line of report()) console.log(line);
})();
