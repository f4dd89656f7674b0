//! Sub-agents: branches by the agent's id, by the call that started them, and by the prompt they were given.

use super::{check, event};

const BRANCH: &str = r#"branch={"call":"t","agent":"explore"}"#;

/// The same event, of an agent.
fn of(agent: &str, event: String) -> String {
    event.replacen("{", &format!(r#"{{"agentId":"{agent}","#), 1)
}

fn call() -> String {
    event(
        "assistant.message",
        "a",
        r#"{"model":"m-1","content":"","toolRequests":[{"toolCallId":"t","name":"task","arguments":{"prompt":"look","agent_type":"explore"}}]}"#,
    )
}

const CALLED: &str = r#"assistant a model=m-1 call=t:task:6:{"prompt":"look","agent_type":"explore"}: "#;

#[test]
fn an_agents_events_are_a_branch_of_the_call_that_started_it() {
    check(
        &[
            call(),
            of("t", event("subagent.started", "b", r#"{"toolCallId":"t","agentName":"explore","model":"m-2"}"#)),
            of("t", event("user.message", "c", r#"{"content":"look"}"#)),
            of("t", event("assistant.turn_start", "d", r#"{"turnId":"0"}"#)),
            of("t", event("assistant.message", "e", r#"{"content":"found"}"#)),
            of("t", event("subagent.completed", "f", r#"{"toolCallId":"t","totalTokens":900}"#)),
            event("tool.execution_complete", "g", r#"{"toolCallId":"t","success":true,"result":{"content":"found"}}"#),
            event("assistant.message", "h", r#"{"model":"m-1","content":"done"}"#),
        ],
        &[
            CALLED,
            r#"event subagent.started b: {"agentId":"t","data":{"toolCallId":"t","agentName":"explore","model":"m-2"},"parentId":null}"#,
            &format!("user c {BRANCH}: look"),
            &format!(
                r#"event assistant.turn_start d {BRANCH}: {{"agentId":"t","data":{{"turnId":"0"}},"parentId":null}}"#
            ),
            &format!("assistant e model=m-2 {BRANCH}: found"),
            &format!(
                r#"event subagent.completed f {BRANCH}: {{"agentId":"t","data":{{"toolCallId":"t","totalTokens":900}},"parentId":null}}"#
            ),
            "result t delegation=explore:look answer=found: found",
            "assistant h model=m-1: done",
        ],
    );
}

#[test]
fn an_agent_may_start_before_the_message_that_asks_for_it() {
    check(
        &[
            of("t", event("subagent.started", "b", r#"{"toolCallId":"t","agentName":"explore"}"#)),
            call(),
            event("assistant.message", "e", r#"{"parentToolCallId":"t","content":"found"}"#),
        ],
        &[
            r#"event subagent.started b: {"agentId":"t","data":{"toolCallId":"t","agentName":"explore"},"parentId":null}"#,
            CALLED,
            &format!("assistant e {BRANCH}: found"),
        ],
    );
}

#[test]
fn a_calls_prompt_is_not_the_humans_where_the_event_names_no_agent() {
    let asked = event("user.message", "c", r#"{"content":"look"}"#);
    check(&[call(), asked.clone()], &[CALLED, r#"user c branch={"call":"t","agent":"t"}: look"#]);
    // Once it is answered, or without such a call, the same words are the human's.
    check(
        &[call(), event("tool.execution_complete", "g", r#"{"toolCallId":"t","success":true}"#), asked.clone()],
        &[CALLED, "result t delegation=explore:look answer=: ", "user c: look"],
    );
    check(&[asked], &["user c: look"]);
}

#[test]
fn streams_that_come_mixed_do_not_take_each_others_reasoning_and_models() {
    check(
        &[
            event("assistant.turn_start", "a", r#"{"model":"m-1"}"#),
            of("x", event("assistant.turn_start", "b", r#"{"model":"m-2"}"#)),
            event("assistant.reasoning", "c", r#"{"content":"main"}"#),
            of("x", event("assistant.reasoning", "d", r#"{"content":"agent"}"#)),
            of("x", event("assistant.message", "e", r#"{"content":"1"}"#)),
            event("assistant.message", "f", r#"{"content":"2"}"#),
        ],
        &[
            r#"event assistant.turn_start a: {"data":{"model":"m-1"},"parentId":null}"#,
            r#"event assistant.turn_start b branch={"call":null,"agent":"x"}: {"agentId":"x","data":{"model":"m-2"},"parentId":null}"#,
            "folded: told with its message",
            r#"assistant e model=m-2 thinking=agent branch={"call":null,"agent":"x"}: 1"#,
            "folded: told with its message",
            "assistant f model=m-1 thinking=main: 2",
        ],
    );
}

#[test]
fn an_agents_errors_stand_on_its_branch() {
    check(
        &[of("x", event("session.error", "a", r#"{"message":"m"}"#))],
        &[
            r#"assistant a stop=error HARNESS branch={"call":null,"agent":"x"} signal="session-error": m"#,
            r#"+ event notice  after=a branch={"call":null,"agent":"x"}: {"data":{"message":"m"}}"#,
        ],
    );
}
