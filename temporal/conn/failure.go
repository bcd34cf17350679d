package conn

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/temporal"

	"example.com/fairlead/temporal/wire"
)

// Class is what the workflow gets to know of an error.
type Class struct {
	// Type is one of the wire.Failure constants.
	Type         string
	NonRetryable bool
	// After is when to try again; zero leaves it to the retry policy.
	After time.Duration
	// Benign failures are expected: no warning in the log, no error metric.
	Benign bool
}

// Failures is the one place where the error of an activity becomes a failure:
// classified, scrubbed of secrets and cut to size.
func Failures(classify func(error) Class) interceptor.WorkerInterceptor {
	return &failures{classify: classify}
}

type failures struct {
	interceptor.WorkerInterceptorBase
	classify func(error) Class
}

func (f *failures) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityFailures{ActivityInboundInterceptorBase: interceptor.ActivityInboundInterceptorBase{Next: next}, classify: f.classify}
}

type activityFailures struct {
	interceptor.ActivityInboundInterceptorBase
	classify func(error) Class
}

func (a *activityFailures) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	result, err := a.Next.ExecuteActivity(ctx, in)
	if err == nil || errors.Is(err, activity.ErrResultPending) || cancelled(ctx, err) {
		return result, err
	}
	c, info := a.classify(err), activity.GetInfo(ctx)
	o := temporal.ApplicationErrorOptions{
		NonRetryable:   c.NonRetryable,
		NextRetryDelay: c.After,
		Details:        []any{wire.FailureDetail{Attempt: info.Attempt, Run: info.WorkflowExecution.RunID}},
	}
	if c.Benign {
		o.Category = temporal.ApplicationErrorCategoryBenign
	}
	return nil, temporal.NewApplicationErrorWithOptions(Scrub(err.Error()), c.Type, o)
}

// cancelled says whether err is how an activity ends whose cancellation was asked for;
// such an end carries no text. Where the context ended for another reason, as when the
// worker stops, the error is one like any other, and another attempt may follow.
func cancelled(ctx context.Context, err error) bool {
	return temporal.IsCanceledError(context.Cause(ctx)) && (temporal.IsCanceledError(err) || errors.Is(err, context.Canceled))
}

const (
	// maxMessage bounds the text of a failure, in bytes.
	maxMessage = 2048
	lowercase  = "abcdefghijklmnopqrstuvwxyz "
)

var (
	userInfo = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/@\s"']+@`)
	bearer   = regexp.MustCompile(`(?i)\b(?:bearer|basic) +[A-Za-z0-9._~+/=-]{8,}`)
)

// Scrub takes credentials out of a message and cuts it to size.
func Scrub(msg string) string {
	msg = userInfo.ReplaceAllString(msg, "${1}***@")
	msg = bearer.ReplaceAllStringFunc(msg, func(s string) string {
		scheme, token, _ := strings.Cut(s, " ")
		if strings.Trim(token, lowercase) == "" {
			return s // a word, as in "basic authentication"
		}
		return scheme + " ***"
	})
	if len(msg) > maxMessage {
		msg = msg[:maxMessage] + " (cut)"
	}
	return strings.ToValidUTF8(msg, "") // or the failure could not be sent
}
