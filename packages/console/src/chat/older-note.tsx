// Says above the messages of a very long chat that it is longer than what is shown.

import { linkTo } from "../shell/router.ts";
import { formatNumber } from "../ui/format.ts";
import { maxRuns } from "./thread.ts";

export function OlderNote() {
  return (
    <li class="soft chat-turn">
      <p>
        Only the newest {formatNumber(maxRuns)} responses of this chat are shown. The model still gets the
        older ones, and the <a href={linkTo("runs")}>list of runs</a> has them.
      </p>
    </li>
  );
}
