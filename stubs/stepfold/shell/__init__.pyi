from stepfold.shell._approval import (
    ApprovalContext,
    ApprovalPolicy,
    ApprovalRule,
    NeedsApproval,
    ToolApproval,
    Verdict,
)
from stepfold.shell._asking import ModelCallOptions
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._carrier import Carrier, Show, lost_call
from stepfold.shell._children import ChildRun, ChildRuns, spent_by
from stepfold.shell._clock import SystemClock
from stepfold.shell._declare import (
    ClientToolDecorator,
    ClientToolKeywords,
    DescribedToolDecorator,
    ToolDecorator,
    ToolKeywords,
    client_tool,
    dynamic_tool,
    tool,
)
from stepfold.shell._decoded import decoded_result
from stepfold.shell._drift import ToolDrift, detect_tool_drift, fingerprint_tools
from stepfold.shell._drive import drive, drive_sync, driven, driven_sync
from stepfold.shell._driver import Driver
from stepfold.shell._embedding import (
    Embedded,
    EmbeddedMany,
    embed,
    embed_many,
    embed_many_sync,
    embed_sync,
    try_embed,
    try_embed_many,
)
from stepfold.shell._emulate_tools import emulate_tools
from stepfold.shell._execute import encoded_outcome
from stepfold.shell._hooks import (
    Hooks,
    PrepareStep,
    RefineToolInput,
    RepairContext,
    RepairToolCall,
    StopCheck,
    StopContext,
    is_described,
)
from stepfold.shell._journal import MemoryJournal
from stepfold.shell._middleware_caching import MemoryReplyStore, ReplyStore, caching
from stepfold.shell._middleware_defaults import (
    add_tool_input_examples,
    default_instructions,
    default_settings,
)
from stepfold.shell._middleware_embedding import (
    default_embedding_settings,
    map_embedding_request,
    wrap_embedding_model,
)
from stepfold.shell._middleware_layers import (
    ReplyWatch,
    map_reply,
    map_request,
    simulate_streaming,
    wrap_language_model,
)
from stepfold.shell._middleware_limits import limit_concurrency, limit_rate
from stepfold.shell._middleware_logged import logged
from stepfold.shell._middleware_text import extract_json, extract_reasoning
from stepfold.shell._observing import (
    EmbeddingCallEnded,
    EmbeddingCallStarted,
    EventHappened,
    ModelCallEnded,
    ModelCallStarted,
    Observation,
    Observer,
    RerankingCallEnded,
    RerankingCallStarted,
    RunTakenUp,
    ToolExecutionEnded,
    ToolExecutionStarted,
    on,
)
from stepfold.shell._provider_tool import OfferedTool, provider_tool, provider_tools_by_name
from stepfold.shell._reranking import RankedDocument, Reranked, rerank, rerank_sync, try_rerank
from stepfold.shell._runtime import Runtime, tools_by_name
from stepfold.shell._shown import ShownToolDecorator
from stepfold.shell._steering import Steering
from stepfold.shell._step_context import StepContext
from stepfold.shell._stream import RunPart, StreamDriver, ToolProgressed
from stepfold.shell._time_limits import TimeLimits, limits_of
from stepfold.shell._tool import AnyTool, Tool, ToolContext, is_unbound_method
from stepfold.shell._tool_search import ToolSearch, tool_search
from stepfold.shell._tool_spec import ToolOptions
from stepfold.shell._waiting import LoopWaiting, SpuriousCancellationError, in_event_loop

__all__ = (
    "AnyTool",
    "ApprovalContext",
    "ApprovalPolicy",
    "ApprovalRule",
    "CancelHandle",
    "Carrier",
    "ChildRun",
    "ChildRuns",
    "ClientToolDecorator",
    "ClientToolKeywords",
    "DescribedToolDecorator",
    "Driver",
    "Embedded",
    "EmbeddedMany",
    "EmbeddingCallEnded",
    "EmbeddingCallStarted",
    "EventHappened",
    "Hooks",
    "LoopWaiting",
    "MemoryJournal",
    "MemoryReplyStore",
    "ModelCallEnded",
    "ModelCallOptions",
    "ModelCallStarted",
    "NeedsApproval",
    "Observation",
    "Observer",
    "OfferedTool",
    "PrepareStep",
    "RankedDocument",
    "RefineToolInput",
    "RepairContext",
    "RepairToolCall",
    "ReplyStore",
    "ReplyWatch",
    "Reranked",
    "RerankingCallEnded",
    "RerankingCallStarted",
    "RunPart",
    "RunTakenUp",
    "Runtime",
    "Show",
    "ShownToolDecorator",
    "SpuriousCancellationError",
    "Steering",
    "StepContext",
    "StopCheck",
    "StopContext",
    "StreamDriver",
    "SystemClock",
    "TimeLimits",
    "Tool",
    "ToolApproval",
    "ToolContext",
    "ToolDecorator",
    "ToolDrift",
    "ToolExecutionEnded",
    "ToolExecutionStarted",
    "ToolKeywords",
    "ToolOptions",
    "ToolProgressed",
    "ToolSearch",
    "Verdict",
    "add_tool_input_examples",
    "caching",
    "client_tool",
    "decoded_result",
    "default_embedding_settings",
    "default_instructions",
    "default_settings",
    "detect_tool_drift",
    "drive",
    "drive_sync",
    "driven",
    "driven_sync",
    "dynamic_tool",
    "embed",
    "embed_many",
    "embed_many_sync",
    "embed_sync",
    "emulate_tools",
    "encoded_outcome",
    "extract_json",
    "extract_reasoning",
    "fingerprint_tools",
    "in_event_loop",
    "is_described",
    "is_unbound_method",
    "limit_concurrency",
    "limit_rate",
    "limits_of",
    "logged",
    "lost_call",
    "map_embedding_request",
    "map_reply",
    "map_request",
    "on",
    "provider_tool",
    "provider_tools_by_name",
    "rerank",
    "rerank_sync",
    "simulate_streaming",
    "spent_by",
    "tool",
    "tool_search",
    "tools_by_name",
    "try_embed",
    "try_embed_many",
    "try_rerank",
    "wrap_embedding_model",
    "wrap_language_model",
)
