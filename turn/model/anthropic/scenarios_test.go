package anthropic

import "testing"

func TestA17EveryToolUseBlockBecomesOneCall(t *testing.T)                      { play(t, "a17_") }
func TestA18InputThatIsNoObjectIsToldAndNeverRun(t *testing.T)                 { play(t, "a18_") }
func TestA19ACutAnswerIsNeverTakenForAWholeOne(t *testing.T)                   { play(t, "a19_") }
func TestA20EmptyMessagesAndUsageAnywhereAreHarmless(t *testing.T)             { play(t, "a20_") }
func TestA21AnErrorInsideA200IsAnError(t *testing.T)                           { play(t, "a21_") }
func TestA24TextComesThroughAsItWasMeant(t *testing.T)                         { play(t, "a24_") }
func TestAStatusOtherThan200SaysWhyAndIsRetriedIfThatMayHelp(t *testing.T)     { play(t, "http_") }
func TestTheStopReasonDecidesWhatAnAnswerIs(t *testing.T)                      { play(t, "stop_") }
func TestThinkingIsToldApartFromTheAnswerAndKeptWithItsSignature(t *testing.T) { play(t, "thinking_") }
