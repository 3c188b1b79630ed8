export interface Shape {
  readonly kind: "circle" | "square";
  size: number;
  colour: number;
}

export function area({ kind, size }: Shape): number {
  switch (kind) {
    case "circle":
      return Math.PI * size ** 2;
    case "square":
      return size * size;
  }
}

export const unused = () => "is shaken out";
