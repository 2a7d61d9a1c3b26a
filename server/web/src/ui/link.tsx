// A link inside the page: a real address, followed without loading the page again.

import type { ComponentChildren } from "preact";
import { usePage } from "./page.ts";
import { type Route, routePath } from "./route.ts";

interface LinkProps {
  to: Route;
  /** how to get there, where it is not a step of its own */
  go?: () => void;
  class?: string;
  "aria-current"?: "page" | undefined;
  "aria-label"?: string;
  title?: string;
  children?: ComponentChildren;
}

export function Link({ to, go, children, ...rest }: LinkProps) {
  const page = usePage();
  return (
    <a
      {...rest}
      href={routePath(to)}
      onClick={(event) => {
        if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
          event.preventDefault();
          go ? go() : page.go(to);
        }
      }}
    >
      {children}
    </a>
  );
}
