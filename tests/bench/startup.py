"""What `import stepfold` and a first use cost, over bare Python."""

import subprocess
import sys
import time

ROUNDS = 7


def report() -> None:
    """Print the best wall time of whole processes, in turns with bare Python."""
    statements = {
        "bare Python": "pass",
        "import stepfold": "import stepfold",
        "a first agent": "import stepfold as sf; sf.Agent(model='openai/gpt-5.4')",
    }
    best = dict.fromkeys(statements, float("inf"))
    for _ in range(ROUNDS):
        for name, statement in statements.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            best[name] = min(best[name], time.perf_counter() - start)
    floor = best.pop("bare Python")
    told = ", ".join(f"{name} {(took - floor) * 1e3:.0f} ms" for name, took in best.items())
    print(f"over bare Python ({floor * 1e3:.0f} ms): {told}\n")
